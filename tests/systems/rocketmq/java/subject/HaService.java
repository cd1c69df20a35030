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
 * RocketMQ's service, which listens on loopback only. How long producers wait for replicas is not a matter of time: they
 * do until somebody says that it is over.
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

    /** Whether all requests are answered that can be, by the rule of GroupTransferService, whose thread looks for itself. */
    boolean hasAnswered() {
        Set<Long> set = getSyncStateSet();
        return waiting().noneMatch(request -> set.size() <= 1 || copies(request, set) >= set.size());
    }

    /** The requests that are not answered yet. */
    Stream<GroupCommitRequest> waiting() {
        return requests.stream().filter(request -> !request.future().isDone());
    }

    private long copies(GroupCommitRequest request, Set<Long> set) {
        return 1 + connections().stream()
                .filter(each -> set.contains(each.getSlaveId()) && each.getSlaveAckOffset() >= request.getNextOffset())
                .count();
    }

    /** The SyncStateSet that it wants, while it waits for the controller's; nobody else. */
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
     * slaveTimeout is over for all who wait, whom RocketMQ's thread answers with FLUSH_SLAVE_TIMEOUT. It looks at the time
     * when it begins with a request; so it is made to begin anew, by an error that it survives, with all that it has not put
     * away: the answered ones too.
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
        }, () -> "producers are not answered");
        isOver = false;
    }

    @Override public Set<Long> getSyncStateSet() {
        if (isOver && Thread.currentThread().getName().endsWith(GroupTransferService.class.getSimpleName())) {
            throw new IllegalStateException("slaveTimeout is over");
        }
        return super.getSyncStateSet();
    }
}
