package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.ServiceThread;
import org.apache.rocketmq.remoting.protocol.EpochEntry;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.PutMessageResult;
import org.apache.rocketmq.store.PutMessageStatus;
import org.apache.rocketmq.store.config.BrokerRole;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAClient;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAConnection;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService;
import org.apache.rocketmq.store.ha.io.AbstractHAReader;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/**
 * A broker with RocketMQ's store and HA service, and their threads. Time has no effect as far as possible: the broker
 * sends a heartbeat only if an event asks for it.
 */
final class Broker {
    static final int FILE_SIZE = 1 << 16;

    private static final int NEVER_MS = Integer.MAX_VALUE;
    private static final int AT_ONCE_MS = -1;
    private static final long NOT_BEGUN = -1;
    private static final BrokerStatsManager STATISTICS = new BrokerStatsManager("cluster", false);

    final long id;
    private final MessageStoreConfig config;
    private final BrokerConfig brokerConfig = new BrokerConfig();
    private final DefaultMessageStore store;
    private final HaService ha = new HaService();
    private final ServerSocketChannel slaveDoor;  // its HA client looks for the master here
    private final Map<Integer, CompletableFuture<PutMessageResult>> waiting = new LinkedHashMap<>();
    private Reading reading;

    Broker(long id, Settings settings, Path directory, Consumer<Set<Long>> syncStateSetChanged) {
        this.id = id;
        config = configuration(settings, directory);
        brokerConfig.setEnableControllerMode(true);
        brokerConfig.setBrokerId(id);
        try {
            store = new DefaultMessageStore(config, STATISTICS, null, brokerConfig, new ConcurrentHashMap<>());
            Reflect.set(store, DefaultMessageStore.class, "haService", ha);
            store.getRunningFlags().makeFenced(true);
            if (!store.load()) {
                throw new IllegalStateException(this + " does not load " + directory);
            }
            store.start();
            slaveDoor = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            slaveDoor.configureBlocking(false);
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
        ha.setLocalBrokerId(id);
        ha.registerSyncStateSetChangedListener(syncStateSetChanged);
    }

    private static MessageStoreConfig configuration(Settings settings, Path directory) {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(directory.toString());
        config.setStorePathCommitLog(directory.resolve("commitlog").toString());
        config.setMappedFileSizeCommitLog(FILE_SIZE);
        config.setMappedFileSizeConsumeQueue(1 << 12);
        config.setMaxMessageSize(1 << 12);
        config.setMessageIndexEnable(false);
        config.setEnableCompaction(false);
        config.setTimerWheelEnable(false);
        config.setHaListenPort(0);
        config.setHaSendHeartbeatInterval(NEVER_MS);
        config.setHaHousekeepingInterval(NEVER_MS);
        config.setSlaveTimeout(NEVER_MS);
        config.setHaTransferBatchSize(Log.SIZE * settings.recordsPerFetch());
        config.setAllAckInSyncStateSet(true);
        config.setMinInSyncReplicas(settings.minInsyncReplicas());
        config.setTotalReplicas(settings.replicas());
        config.setInSyncReplicas(settings.replicas());
        config.setFlushCommitLogTimed(false);
        return config;
    }

    @Override public String toString() {
        return "broker " + id;
    }

    HaService ha() {
        return ha;
    }

    int port() {
        return config.getHaListenPort();
    }

    boolean isMaster() {
        return config.getBrokerRole() == BrokerRole.SYNC_MASTER;
    }

    // As a master

    /** Appends a message. Returns false if too few replicas are in sync. */
    boolean put(int number) {
        CompletableFuture<PutMessageResult> answer = store.asyncPutMessage(Log.message(number));
        if (answer.isDone() && answer.join().getPutMessageStatus() == PutMessageStatus.IN_SYNC_REPLICAS_NOT_ENOUGH) {
            return false;
        }
        waiting.put(number, answer);
        ha.getWaitNotifyObject().wakeupAll();
        return true;
    }

    /** Returns the records whose PUT_OK has arrived since the last call. */
    List<Integer> answered() {
        List<Integer> stored = new ArrayList<>();
        waiting.entrySet().removeIf(each -> {
            boolean done = each.getValue().isDone();
            if (done && each.getValue().join().getPutMessageStatus() == PutMessageStatus.PUT_OK) {
                stored.add(each.getKey());
            }
            return done;
        });
        return stored;
    }

    /** Ends all waiting puts with FLUSH_SLAVE_TIMEOUT. */
    void endWaiting() {
        ha.endWaiting(() -> waiting.values().stream().allMatch(CompletableFuture::isDone));
        waiting.clear();
    }

    AbstractHAReader reader(AutoSwitchHAConnection connection) {
        Object service = Reflect.get(connection, AutoSwitchHAConnection.class, "readSocketService");
        return (AbstractHAReader) Reflect.get(service, service.getClass(), "haReader");
    }

    /** Makes the master send heartbeats to its slaves until one has arrived. */
    void timeToSend(BooleanSupplier hasCome) {
        config.setHaSendHeartbeatInterval(AT_ONCE_MS);
        Quiet.await(() -> {
            ha.getWaitNotifyObject().wakeupAll();
            return hasCome.getAsBoolean();
        }, () -> this + " sends no heartbeat");
        config.setHaSendHeartbeatInterval(NEVER_MS);
    }

    /** Returns whether the master is about to send more of its log. It sends nothing if its epoch file is empty. */
    boolean isPushing(AutoSwitchHAConnection connection) {
        long from = connection.getTransferFromWhere();
        return !ha.getEpochEntries().isEmpty() && from >= NOT_BEGUN && from < store.getMaxPhyOffset();
    }

    /** Waits until the threads of a lost connection have ended. */
    void awaitEnd(AutoSwitchHAConnection connection) {
        for (String service : List.of("readSocketService", "writeSocketService")) {
            Thread thread = threadOf(Reflect.get(connection, AutoSwitchHAConnection.class, service));
            Quiet.await(() -> {
                ha.getWaitNotifyObject().wakeupAll();
                return !thread.isAlive();
            }, () -> this + " does not end a connection");
        }
    }

    private static Thread threadOf(Object service) {
        return (Thread) Reflect.get(service, ServiceThread.class, "thread");
    }

    /** Makes the master believe that the slave has lagged for longer than haMaxTimeSlaveNotCatchup. */
    @SuppressWarnings("unchecked")
    void lag(long slave) {
        ((Map<Long, Long>) Reflect.get(ha, AutoSwitchHAService.class, "connectionCaughtUpTimeTable")).put(slave, 0L);
    }

    // As a slave

    /** Makes the slave send reports to the master until one has arrived. */
    void timeToReport(BooleanSupplier hasCome) {
        config.setHaSendHeartbeatInterval(AT_ONCE_MS);
        Quiet.await(() -> {
            selector().wakeup();
            return hasCome.getAsBoolean();
        }, () -> this + " does not report");
        config.setHaSendHeartbeatInterval(NEVER_MS);
    }

    /** Returns the number of bytes that its client has read from masters. */
    long read() {
        return reading.bytes();
    }

    /**
     * Returns whether its client has handled this number of bytes. If the client waits for the dispatch thread, this
     * call ends the wait.
     */
    boolean hasHandled(long bytes) {
        client().wakeup();
        if (waitsForDispatch()) {
            threadOf(client()).interrupt();
        }
        return reading.hasHandled(bytes);
    }

    /**
     * Returns whether its client waits 90 seconds for a thread that cannot end, before it truncates the log. Up to
     * 5.4.0, the dispatch thread spins if all confirmed messages are dispatched and the log has more messages
     * (DefaultMessageStore.doReput checks only once whether there is more to do).
     */
    private boolean waitsForDispatch() {
        Thread client = threadOf(client());
        ServiceThread dispatch = (ServiceThread) Reflect.get(store, DefaultMessageStore.class, "reputMessageService");
        return client.getState() == Thread.State.TIMED_WAITING && dispatch.isStopped() && store.dispatchBehindBytes() == 0
                && isIn(client, "join") && isIn(threadOf(dispatch), "doReput");
    }

    private static boolean isIn(Thread thread, String method) {
        return Arrays.stream(thread.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals(method));
    }

    /**
     * Makes its HA client connect to the master. The address is that of {@code slaveDoor}, so the adapter accepts the
     * connection.
     */
    void connect() {
        reading = new Reading((AbstractHAReader) Reflect.get(client(), AutoSwitchHAClient.class, "haReader"));
        client().updateHaMasterAddress("127.0.0.1:" + slaveDoor.socket().getLocalPort());
    }

    /** Accepts the connection of its client. The client connects again at once if it has lost a connection. */
    SocketChannel accept() {
        SocketChannel[] accepted = new SocketChannel[1];
        Quiet.await(() -> {
            client().wakeup();
            accepted[0] = knock();
            return accepted[0] != null;
        }, () -> this + " does not connect to its master");
        return accepted[0];
    }

    private SocketChannel knock() {
        try {
            return slaveDoor.accept();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    // Roles

    void becomeMaster() {
        brokerConfig.setBrokerId(MixAll.MASTER_ID);
        config.setBrokerRole(BrokerRole.SYNC_MASTER);
    }

    void becomeSlave() {
        brokerConfig.setBrokerId(id);
        config.setBrokerRole(BrokerRole.SLAVE);
    }

    void unfence() {
        store.getRunningFlags().makeFenced(false);
    }

    /**
     * Waits for a role change on another thread. RocketMQ waits for its HA client there, so this method wakes the
     * client.
     */
    void await(Future<?> work) {
        List<AutoSwitchHAConnection> connections = ha.connections();
        Quiet.await(() -> {
            if (client() != null) {
                selector().wakeup();
            }
            return work.isDone();
        }, () -> this + " does not change its role");
        try {
            work.get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
        connections.stream().filter(each -> !ha.connections().contains(each)).forEach(this::awaitEnd);
        settle();
    }

    /**
     * Waits until the threads have finished all work that needs no event: SyncStateSet changes, responses to producers,
     * and the dispatch of messages to consumers.
     */
    void settle() {
        try {
            ((ExecutorService) Reflect.get(ha, AutoSwitchHAService.class, "executorService")).submit(() -> { }).get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
        Quiet.await(() -> ha.hasAnswered() && waiting.values().stream().filter(each -> !each.isDone()).count()
                        == ha.waiting().count(),
                () -> this + " does not respond to its producers");
        Quiet.await(() -> store.dispatchBehindBytes() <= 0, () -> this + " does not dispatch");
        store.getStoreCheckpoint().flush();
    }

    /** Ends the process, and closes its files. */
    void abandon() {
        endWaiting();
        store.setConfirmOffset(store.getMaxPhyOffset());  // otherwise the dispatch thread may never end
        Thread.currentThread().interrupt();  // skips a sleep of three seconds in shutdown()
        store.shutdown();
        try {
            slaveDoor.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    // Observation

    long bytes() {
        return store.getMaxPhyOffset();
    }

    long end() {
        return Log.records(bytes());
    }

    long confirmed() {
        return Log.records(Math.max(0, store.getConfirmOffset()));
    }

    List<EpochEntry> epochs() {
        return ha.getEpochEntries();
    }

    List<List<Object>> log() {
        return Log.entries(store, epochs());
    }

    private AutoSwitchHAClient client() {
        return (AutoSwitchHAClient) ha.getHAClient();
    }

    private Selector selector() {
        return (Selector) Reflect.get(client(), AutoSwitchHAClient.class, "selector");
    }
}
