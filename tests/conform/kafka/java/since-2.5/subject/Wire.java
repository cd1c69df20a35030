package subject;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import kafka.server.BlockingSend;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
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
        return new ClientResponse(header, null, "", 0, 0, false, null, null, parsed(header, response));
    }

    @Override public void initiateClose() { }

    @Override public void close() { }

    /** Returns the request as the leader receives it: without the fields that its version does not have. */
    private static AbstractRequest parsed(RequestHeader header, AbstractRequest request) {
        ByteBuffer bytes = request.serialize(header);
        RequestHeader.parse(bytes);
        short version = header.apiVersion();
        return AbstractRequest.parseRequest(header.apiKey(), version, header.apiKey().parseRequest(version, bytes));
    }

    private static AbstractResponse parsed(RequestHeader header, AbstractResponse response) {
        ByteBuffer bytes = response.serialize(header.apiKey(), header.apiVersion(), 0);
        ResponseHeader.parse(bytes, header.apiKey().responseHeaderVersion(header.apiVersion()));
        short version = header.apiVersion();
        return AbstractResponse.parseResponse(header.apiKey(), header.apiKey().parseResponse(version, bytes), version);
    }

    /** Returns an empty response, which names no partition. */
    static AbstractResponse empty(Object request) {
        if (request instanceof FetchRequest) {
            return new FetchResponse<>(Errors.NONE, new LinkedHashMap<>(), 0, 0);
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
