package subject;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.kafka.server.network.BrokerEndPoint;
import kafka.server.BlockingSend;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import org.apache.kafka.common.requests.RequestHeader;

/**
 * The connection from a fetcher thread to its leader. It serializes and parses every request and response, as a socket
 * does.
 */
final class Wire implements BlockingSend {
    private final BrokerEndPoint leader;
    private final Fetcher fetcher;

    Wire(BrokerEndPoint leader, Fetcher fetcher) {
        this.leader = leader;
        this.fetcher = fetcher;
    }

    @Override public BrokerEndPoint brokerEndPoint() {
        return leader;
    }

    @Override public ClientResponse sendRequest(AbstractRequest.Builder<? extends AbstractRequest> builder) {
        return fetcher.guarded(() -> exchange(builder.build()));
    }

    private ClientResponse exchange(AbstractRequest built) {
        AbstractRequest request = parsed(built);
        AbstractResponse response = (AbstractResponse) fetcher.send(request);
        RequestHeader header = new RequestHeader(request.apiKey(), request.version(), "", 0);
        return new ClientResponse(header, null, "", 0, 0, false, null, null, parsed(request, response));
    }

    @Override public void initiateClose() { }

    @Override public void close() { }

    /** Returns the request as the leader receives it: without the fields that its version does not have. */
    private static AbstractRequest parsed(AbstractRequest request) {
        return AbstractRequest.parseRequest(request.apiKey(), request.version(), request.serialize()).request;
    }

    private static AbstractResponse parsed(AbstractRequest request, AbstractResponse response) {
        return AbstractResponse.parseResponse(
                request.apiKey(), bytes(response.data(), request.version()), request.version());
    }

    private static ByteBufferAccessor bytes(ApiMessage message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBufferAccessor buffer = new ByteBufferAccessor(ByteBuffer.allocate(message.size(cache, version)));
        message.write(buffer, cache, version);
        buffer.flip();
        return buffer;
    }

    /** Returns an empty response, which names no partition. */
    static AbstractResponse empty(Object request) {
        if (request instanceof FetchRequest) {
            return FetchResponse.of(Errors.NONE, 0, 0, new LinkedHashMap<>(), List.of());
        }
        if (request instanceof OffsetsForLeaderEpochRequest) {
            return new OffsetsForLeaderEpochResponse(new OffsetForLeaderEpochResponseData());
        }
        throw new IllegalArgumentException("unexpected request of a follower: " + request);
    }

    static boolean asksForOffsets(Object request) {
        return request instanceof ListOffsetsRequest;
    }
}
