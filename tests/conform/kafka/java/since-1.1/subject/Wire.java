package subject;

import java.nio.ByteBuffer;
import java.util.Map;
import kafka.server.BlockingSend;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.ListOffsetRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.ResponseHeader;

/**
 * The connection from a fetcher thread to its leader. It serializes and parses every request and response, as a socket
 * does.
 */
final class Wire implements BlockingSend {
    private final Fetcher fetcher;

    Wire(Fetcher fetcher) {
        this.fetcher = fetcher;
    }

    @Override public ClientResponse sendRequest(AbstractRequest.Builder<? extends AbstractRequest> builder) {
        return fetcher.guarded(() -> exchange(builder.apiKey(), builder.build()));
    }

    private ClientResponse exchange(ApiKeys api, AbstractRequest built) {
        RequestHeader header = new RequestHeader(api, built.version(), "", 0);
        AbstractResponse response = (AbstractResponse) fetcher.send(parsed(header, built));
        return Api.response(header, parsed(header, response));
    }

    /** Kafka has this method since 2.1, so there is no @Override. */
    public void initiateClose() { }

    @Override public void close() { }

    /** Returns the request as the leader receives it: without the fields that its version does not have. */
    private static AbstractRequest parsed(RequestHeader header, AbstractRequest request) {
        ByteBuffer bytes = request.serialize(header);
        RequestHeader.parse(bytes);
        short version = header.apiVersion();
        return AbstractRequest.parseRequest(header.apiKey(), version, header.apiKey().parseRequest(version, bytes));
    }

    private static AbstractResponse parsed(RequestHeader header, AbstractResponse response) {
        ByteBuffer bytes = response.serialize(header.apiVersion(), header.toResponseHeader());
        ResponseHeader.parse(bytes);
        short version = header.apiVersion();
        return Api.parsed(header.apiKey(), version, header.apiKey().parseResponse(version, bytes));
    }

    /** Returns an empty response, which names no partition. */
    static AbstractResponse empty(Object request) {
        if (request instanceof FetchRequest) {
            return Api.emptyFetchResponse();
        }
        if (request instanceof OffsetsForLeaderEpochRequest) {
            return new OffsetsForLeaderEpochResponse(Map.of());
        }
        throw new IllegalArgumentException("unexpected request of a follower: " + request);
    }

    static boolean asksForOffsets(Object request) {
        return request instanceof ListOffsetRequest;
    }
}
