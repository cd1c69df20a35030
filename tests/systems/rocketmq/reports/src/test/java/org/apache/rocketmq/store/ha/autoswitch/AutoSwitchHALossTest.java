package org.apache.rocketmq.store.ha.autoswitch;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.GetMessageStatus;
import org.apache.rocketmq.store.PutMessageResult;
import org.apache.rocketmq.store.PutMessageStatus;
import org.apache.rocketmq.store.SelectMappedBufferResult;
import org.apache.rocketmq.store.config.BrokerRole;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

import static org.awaitility.Awaitility.await;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

/** Elections and lost connections of a master and a slave that lose messages, with allAckInSyncStateSet=true. */
public class AutoSwitchHALossTest {
    private static final Set<Long> BOTH = new HashSet<>(Arrays.asList(1L, 2L));
    private static final int SLAVE_TIMEOUT_MS = 1000;

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private final BrokerStatsManager brokerStatsManager = new BrokerStatsManager("simpleTest", true);
    private final InetSocketAddress host = new InetSocketAddress(InetAddress.getLoopbackAddress(), 8123);
    private DefaultMessageStore store1;
    private DefaultMessageStore store2;
    private Network network;

    /** Broker 1 is master of epoch 1, broker 2 is its slave, and the SyncStateSet has both. */
    @Before
    public void init() throws Exception {
        store1 = start(1L, 0);
        store2 = start(2L, 0);
        network = new Network(haPort(store1));
        changeToMaster(store1, 1);
        changeToSlave(store2, 1, 2L, network.port());
        // The slave has reported its empty log, and knows the epoch.
        await().atMost(30, TimeUnit.SECONDS).until(() -> ha(store1).getConnectionCount().get() == 1
            && connection().getSlaveAckOffset() == 0 && ha(store2).getLastEpoch() == 1);
        // The slave's first connection can fail. The controller's set replaces all sets that the master has requested.
        ha(store1).setSyncStateSet(BOTH);
    }

    @After
    public void destroy() throws Exception {
        network.close();
        store2.shutdown();
        store1.shutdown();
    }

    @Test
    public void testMasterWaitsForControllerWhenConnectionIsLost() throws Exception {
        assertEquals(PutMessageStatus.PUT_OK, put(store1, "m0").get().getPutMessageStatus());

        // The connection breaks. The controller has not received a request to remove broker 2.
        network.close();
        await().atMost(30, TimeUnit.SECONDS).until(() -> ha(store1).getConnectionCount().get() == 0);
        PutMessageStatus status = put(store1, "m1").get().getPutMessageStatus();

        // The controller elects broker 2, which is in its SyncStateSet.
        changeToMaster(store2, 2);
        if (status == PutMessageStatus.PUT_OK) {
            assertEquals("m1 is lost: the producer got PUT_OK, and the new master is in the SyncStateSet",
                Arrays.asList("m0", "m1"), log(store2));
        }
    }

    @Test
    public void testEpochThatBeginsAtSameOffsetIsRecorded() throws Exception {
        // Broker 2 does not receive m0, and the producer gets no PUT_OK.
        network.holdFromMaster();
        assertEquals(PutMessageStatus.FLUSH_SLAVE_TIMEOUT, put(store1, "m0").get().getPutMessageStatus());

        // Broker 2 is elected, and accepts m1 at the offset of m0.
        Set<Long> proposed = new CopyOnWriteArraySet<>();
        ha(store2).registerSyncStateSetChangedListener(proposed::addAll);
        ha(store2).setSyncStateSet(Collections.singleton(2L));
        changeToMaster(store2, 2);
        assertEquals(PutMessageStatus.PUT_OK, put(store2, "m1").get().getPutMessageStatus());

        // Broker 1 becomes a slave, and broker 2 wants to add broker 1 to the SyncStateSet.
        changeToSlave(store1, 2, 1L, haPort(store2));
        await().atMost(30, TimeUnit.SECONDS).until(() -> proposed.containsAll(BOTH));
        assertEquals("m1 is lost if broker 1 is elected: the producer got PUT_OK, and broker 1 joins the SyncStateSet",
            Collections.singletonList("m1"), log(store1));
    }

    @Test
    public void testMasterWaitsForSlaveWithEmptyLog() throws Exception {
        // Broker 2 reports its empty log, and does not receive m0.
        network.holdFromMaster();
        put(store1, "m0");
        List<String> read = consume(store1);

        // The controller elects broker 2, which is in its SyncStateSet.
        changeToMaster(store2, 2);
        assertEquals("m0 is lost: a consumer read m0, and the new master is in the SyncStateSet", read, log(store2));
    }

    @Test
    public void testSlaveReceivesMessagesOfMasterThatRestartsInItsEpoch() throws Exception {
        assertEquals(PutMessageStatus.PUT_OK, put(store1, "m0").get().getPutMessageStatus());

        // Broker 1 restarts before the controller notices, and is still the master of epoch 1.
        int port = haPort(store1);
        store1.shutdown();
        store1 = start(1L, port);
        ha(store1).setSyncStateSet(BOTH);
        changeToMaster(store1, 1);
        await().atMost(30, TimeUnit.SECONDS).until(() -> ha(store1).getConnectionCount().get() == 1);
        put(store1, "m1");
        List<String> expected = Arrays.asList("m0", "m1");
        try {
            await().atMost(20, TimeUnit.SECONDS).until(() -> log(store2).equals(expected));
        } catch (ConditionTimeoutException e) {
            assertEquals("replication stopped: broker 2 did not receive m1 within 20 seconds", expected, log(store2));
        }
    }

    private DefaultMessageStore start(long brokerId, int port) throws Exception {
        String root = folder.getRoot() + "/broker-" + brokerId;
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(root);
        config.setStorePathCommitLog(root + "/commitlog");
        config.setStorePathEpochFile(root + "/EpochFileCache");
        config.setMappedFileSizeCommitLog(1024 * 1024);
        config.setMappedFileSizeConsumeQueue(1024 * 1024);
        config.setMessageIndexEnable(false);
        config.setTimerWheelEnable(false);
        config.setHaListenPort(port);
        config.setHaSendHeartbeatInterval(200);
        config.setSlaveTimeout(SLAVE_TIMEOUT_MS);
        config.setAllAckInSyncStateSet(true);
        config.setBrokerRole(BrokerRole.SLAVE);
        BrokerConfig brokerConfig = new BrokerConfig();
        brokerConfig.setBrokerId(brokerId);
        brokerConfig.setEnableControllerMode(true);
        DefaultMessageStore store =
            new DefaultMessageStore(config, brokerStatsManager, null, brokerConfig, new ConcurrentHashMap<>());
        assertTrue(store.load());
        store.start();
        ha(store).setLocalBrokerId(brokerId);
        return store;
    }

    private static AutoSwitchHAService ha(DefaultMessageStore store) {
        return (AutoSwitchHAService) store.getHaService();
    }

    private static int haPort(DefaultMessageStore store) {
        return store.getMessageStoreConfig().getHaListenPort();
    }

    private AutoSwitchHAConnection connection() {
        return (AutoSwitchHAConnection) ha(store1).getConnectionList().get(0);
    }

    private static void changeToMaster(DefaultMessageStore store, int epoch) throws Exception {
        assertTrue(ha(store).changeToMaster(epoch));
        store.getMessageStoreConfig().setBrokerRole(BrokerRole.SYNC_MASTER);
    }

    private static void changeToSlave(DefaultMessageStore store, int epoch, long id, int masterPort) {
        store.getMessageStoreConfig().setBrokerRole(BrokerRole.SLAVE);
        assertTrue(ha(store).changeToSlave("", epoch, id));
        ha(store).updateHaMasterAddress("127.0.0.1:" + masterPort);
    }

    private CompletableFuture<PutMessageResult> put(DefaultMessageStore master, String body) {
        MessageExtBrokerInner message = new MessageExtBrokerInner();
        message.setTopic("FooBar");
        message.setBody(body.getBytes(StandardCharsets.UTF_8));
        message.setKeys("key");
        message.setQueueId(0);
        message.setBornTimestamp(System.currentTimeMillis());
        message.setBornHost(host);
        message.setStoreHost(host);
        message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
        return master.asyncPutMessage(message);
    }

    /** Returns the messages that a consumer reads within five seconds. */
    private static List<String> consume(DefaultMessageStore master) throws Exception {
        for (int i = 0; i < 50; i++) {
            GetMessageResult result = master.getMessage("GROUP_A", "FooBar", 0, 0, 1024, null);
            if (result != null && result.getStatus() == GetMessageStatus.FOUND) {
                List<String> bodies = new ArrayList<>();
                for (ByteBuffer buffer : result.getMessageBufferList()) {
                    bodies.add(new String(MessageDecoder.decode(buffer).getBody(), StandardCharsets.UTF_8));
                }
                result.release();
                return bodies;
            }
            Thread.sleep(100);
        }
        return Collections.emptyList();
    }

    /** Returns the bodies of all messages in the commit log. */
    private static List<String> log(DefaultMessageStore store) {
        List<String> bodies = new ArrayList<>();
        long end = store.getMaxPhyOffset();
        SelectMappedBufferResult found = end == 0 ? null : store.getCommitLogData(0);
        if (found != null) {
            ByteBuffer buffer = found.getByteBuffer();
            while (buffer.position() < end) {
                bodies.add(new String(MessageDecoder.decode(buffer).getBody(), StandardCharsets.UTF_8));
            }
            found.release();
        }
        return bodies;
    }

    /** The connection between a master and its slave. The test can break it, or hold the master's data. */
    private static final class Network {
        private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        private final List<Socket> sockets = new ArrayList<>();
        private volatile boolean isHeld;
        private boolean isClosed;

        Network(int masterPort) throws IOException {
            start(() -> {
                while (true) {
                    Socket slave = server.accept();
                    start(() -> connect(slave, masterPort));
                }
            });
        }

        private void connect(Socket slave, int masterPort) throws IOException {
            try {
                Socket master = open(slave, masterPort);
                start(() -> copy(master, slave, true));
                copy(slave, master, false);
            } finally {
                if (!isHeld) {
                    slave.close();
                }
            }
        }

        int port() {
            return server.getLocalPort();
        }

        void holdFromMaster() {
            isHeld = true;
        }

        /** Connects to the master, unless the network is closed: the server can accept a connection while it closes. */
        private synchronized Socket open(Socket slave, int masterPort) throws IOException {
            if (isClosed) {
                throw new IOException("the network is closed");
            }
            Socket master = new Socket(InetAddress.getLoopbackAddress(), masterPort);
            sockets.addAll(Arrays.asList(slave, master));
            return master;
        }

        synchronized void close() throws IOException {
            isClosed = true;
            server.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        }

        private void copy(Socket from, Socket to, boolean isFromMaster) throws IOException {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] bytes = new byte[1 << 16];
            for (int size = in.read(bytes); size >= 0; size = in.read(bytes)) {
                if (!(isFromMaster && isHeld)) {
                    out.write(bytes, 0, size);
                }
            }
            if (!isHeld) {
                from.close();
                to.close();
            }
        }

        private static void start(Task task) {
            Thread thread = new Thread(() -> {
                try {
                    task.run();
                } catch (IOException ignored) {
                    // The connection is closed.
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private interface Task {
            void run() throws IOException;
        }
    }
}
