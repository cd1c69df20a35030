package subject;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import kafka.server.KafkaConfig;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.NodeApiVersions;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.BrokerRegistrationResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.BrokerRegistrationRequest;
import org.apache.kafka.common.requests.BrokerRegistrationResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.ClusterControl;
import org.apache.kafka.controller.QuorumFeatures;
import org.apache.kafka.server.BrokerLifecycleManager;
import org.apache.kafka.server.common.ControllerRequestCompletionHandler;
import org.apache.kafka.server.common.NodeToControllerChannelManager;

/**
 * Kafka's BrokerLifecycleManager in a process that tries to register. Its requests wait until {@link #attempt} passes
 * them to the controller.
 */
final class Unregistered implements NodeToControllerChannelManager {
    private static final int PATIENCE_S = 20;

    private final BlockingQueue<Attempt> attempts = new LinkedBlockingQueue<>();
    private final BrokerLifecycleManager lifecycle;

    Unregistered(int broker, Release release, FakeTime time) {
        KafkaConfig config = Configurations.of(BrokerProcess.host(broker, -1, release, null, time, null));
        Map<String, Uuid> directories = Map.of("logs", ClusterControl.logDirectory(broker));
        lifecycle = new BrokerLifecycleManager(config, Time.SYSTEM, "", directories);
        lifecycle.start(() -> 0L, this, ClusterControl.CLUSTER, ClusterControl.listeners(broker),
                QuorumFeatures.defaultSupportedFeatureMap(true), OptionalLong.empty());
    }

    /** Passes the next registration request to the controller. Returns the error code of the response. */
    Errors attempt(ToLongFunction<BrokerRegistrationRequestData> controller) throws InterruptedException {
        Attempt attempt = attempts.poll(PATIENCE_S, TimeUnit.SECONDS);
        if (attempt == null) {
            throw new IllegalStateException("the process does not send a registration request");
        }
        BrokerRegistrationResponseData response = new BrokerRegistrationResponseData();
        try {
            response.setBrokerEpoch(controller.applyAsLong(attempt.request));
        } catch (ApiException refused) {
            response.setErrorCode(Errors.forException(refused).code());
        }
        RequestHeader header = new RequestHeader(
                ApiKeys.BROKER_REGISTRATION, ApiKeys.BROKER_REGISTRATION.latestVersion(), "", 0);
        attempt.handler.onComplete(new ClientResponse(
                header, null, "", 0, 0, false, null, null, new BrokerRegistrationResponse(response)));
        return Errors.forCode(response.errorCode());
    }

    /** Returns the broker epoch that the process sends in its fetches: -1 until its registration succeeds. */
    long brokerEpoch() {
        return lifecycle.brokerEpoch();
    }

    /** Stops the process's attempts to register. */
    void abandon() throws InterruptedException {
        lifecycle.close();
    }

    @Override public void sendRequest(AbstractRequest.Builder<? extends AbstractRequest> request,
            ControllerRequestCompletionHandler handler) {
        attempts.add(new Attempt(((BrokerRegistrationRequest) request.build()).data(), handler));
    }

    @Override public void start() { }

    @Override public void shutdown() { }

    @Override public Optional<NodeApiVersions> controllerApiVersions() {
        return Optional.empty();
    }

    @Override public long getTimeoutMs() {
        return TimeUnit.SECONDS.toMillis(PATIENCE_S);
    }

    private record Attempt(BrokerRegistrationRequestData request, ControllerRequestCompletionHandler handler) { }
}
