package subject;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.rocketmq.store.CommitLog.GroupCommitRequest;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.ha.GroupTransferService;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAConnection;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService;

/**
 * RocketMQ's HA service, which listens on loopback only. Producers wait for replicas until {@link #endWaiting},
 * whatever the time.
 */
final class HaService extends AutoSwitchHAService {
    private final List<GroupCommitRequest> requests = new CopyOnWriteArrayList<>();
    private volatile boolean isOver;

    @Override public void init(DefaultMessageStore store) throws IOException {
        super.init(store);
        InetSocketAddress loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Reflect.set(acceptSocketService, AcceptSocketService.class, "socketAddressListen", loopback);
    }

    @Override public void putRequest(GroupCommitRequest request) {
        requests.add(request);
        super.putRequest(request);
    }

    /**
     * Returns whether GroupTransferService's thread has responded to all requests that enough replicas have confirmed.
     */
    boolean hasAnswered() {
        Set<Long> set = getSyncStateSet();
        return waiting().noneMatch(request -> set.size() <= 1 || copies(request, set) >= set.size());
    }

    /** Returns the requests without a response. */
    Stream<GroupCommitRequest> waiting() {
        return requests.stream().filter(request -> !request.future().isDone());
    }

    private long copies(GroupCommitRequest request, Set<Long> set) {
        return 1 + connections().stream()
                .filter(each -> set.contains(each.getSlaveId()) && each.getSlaveAckOffset() >= request.getNextOffset())
                .count();
    }

    /**
     * Returns the requested SyncStateSet while the service waits for the controller's response; otherwise an empty set.
     */
    @SuppressWarnings("unchecked")
    Set<Long> proposed() {
        Set<Long> wanted = (Set<Long>) Reflect.get(this, AutoSwitchHAService.class, "remoteSyncStateSet");
        return isSynchronizingSyncStateSet() ? Set.copyOf(wanted) : Set.of();
    }

    List<AutoSwitchHAConnection> connections() {
        synchronized (connectionList) {
            return connectionList.stream().map(AutoSwitchHAConnection.class::cast).toList();
        }
    }

    /**
     * Ends slaveTimeout for all requests, so that RocketMQ's thread responds with FLUSH_SLAVE_TIMEOUT. The thread
     * checks the deadline only when it starts to handle a request. So an exception, which the thread survives, makes it
     * start again with all its requests, even with those that have a response.
     */
    void endWaiting(BooleanSupplier areAnswered) {
        for (GroupCommitRequest request : requests) {
            Reflect.set(request, GroupCommitRequest.class, "deadLine", System.nanoTime());
        }
        requests.clear();
        isOver = true;
        Quiet.await(() -> {
            groupTransferService.wakeup();
            return areAnswered.getAsBoolean();
        }, () -> "producers get no response");
        isOver = false;
    }

    @Override public Set<Long> getSyncStateSet() {
        if (isOver && Thread.currentThread().getName().endsWith(GroupTransferService.class.getSimpleName())) {
            throw new IllegalStateException("slaveTimeout is over");
        }
        return super.getSyncStateSet();
    }
}
