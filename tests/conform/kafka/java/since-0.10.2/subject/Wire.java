package subject;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.ManualMetadataUpdater;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.protocol.ProtoUtils;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.ListOffsetRequest;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.utils.Time;

/**
 * The connection from a fetcher thread to its leader. It serializes and parses every request and response, as a socket
 * does.
 */
final class Wire extends NetworkClient {
    private final Fetcher fetcher;
    private final List<ClientResponse> arrived = new ArrayList<>();

    Wire(Fetcher fetcher, Time time) {
        super(null, new ManualMetadataUpdater(), "", 1, 0, 0, 0, 0, time, false);
        this.fetcher = fetcher;
    }

    @Override public void send(ClientRequest request, long now) {
        arrived.add(fetcher.guarded(() -> exchange(request)));
    }

    @Override public List<ClientResponse> poll(long timeout, long now) {
        List<ClientResponse> responses = List.copyOf(arrived);
        arrived.clear();
        return responses;
    }

    @Override public boolean ready(Node node, long now) {
        return true;
    }

    @Override public boolean isReady(Node node, long now) {
        return true;
    }

    @Override public void close(String node) { }

    @Override public void close() { }

    private ClientResponse exchange(ClientRequest request) {
        RequestHeader header = request.makeHeader();
        AbstractResponse response = (AbstractResponse) fetcher.send(parsed(header, request.requestBuilder().build()));
        return new ClientResponse(header, null, "", 0, 0, false, null, parsed(header, response));
    }

    private static AbstractRequest parsed(RequestHeader header, AbstractRequest request) {
        ByteBuffer bytes = ByteBuffer.allocate(request.sizeOf());
        request.writeTo(bytes);
        bytes.flip();
        return AbstractRequest.getRequest(header.apiKey(), header.apiVersion(), bytes);
    }

    private static AbstractResponse parsed(RequestHeader header, AbstractResponse response) {
        ByteBuffer bytes = ByteBuffer.allocate(response.sizeOf());
        response.writeTo(bytes);
        bytes.flip();
        return AbstractResponse.getResponse(
                header.apiKey(), ProtoUtils.parseResponse(header.apiKey(), header.apiVersion(), bytes));
    }

    /** Returns an empty response, which names no partition. */
    static AbstractResponse empty(Object request) {
        FetchRequest fetch = (FetchRequest) request;
        return new FetchResponse(fetch.version(), new LinkedHashMap<>(), 0);
    }

    static boolean asksForOffsets(Object request) {
        return request instanceof ListOffsetRequest;
    }
}
