package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAConnection;
import subject.Frames.Frame;

/**
 * A slave's connection to a master. The adapter holds the frames of both sides until an event delivers them.
 *
 * <p>Frames without new information are dropped: a report of the same log end, a second handshake while the first one
 * waits, and an unexpected heartbeat. This has the same effect as if the time to send them had not come.
 */
final class Link {
    final Broker slave;
    final Broker master;
    private final SocketChannel toSlave;
    private final Frames fromSlave = new Frames(false);
    private final Frames fromMaster = new Frames(true);
    private final Deque<Frame> pushed = new ArrayDeque<>();
    private final ByteBuffer buffer = ByteBuffer.allocate(1 << 15);
    private SocketChannel toMaster;
    private AutoSwitchHAConnection connection;
    private Reading atMaster;
    private long sentToMaster;
    private long sentToSlave;
    private final long readBefore;  // bytes that the slave has read from other connections
    private Frame handshake;
    private Frame report;
    private Frame heartbeat;
    private boolean wantsHeartbeat;
    private long end = -1;  // the end of the log that the master has sent; it starts at the slave's first report
    private Frame inFlight;

    Link(Broker slave, Broker master) {
        this.slave = slave;
        this.master = master;
        readBefore = slave.read();
        toSlave = slave.accept();
        unblock(toSlave);
    }

    /** Reads the frames that have arrived from both sides. */
    void look() {
        try {
            look(toSlave, fromSlave, this::fromSlave);
            if (toMaster != null) {
                look(toMaster, fromMaster, this::fromMaster);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void look(SocketChannel side, Frames frames, Consumer<Frame> each) throws IOException {
        if (!side.isOpen()) {
            return;
        }
        buffer.clear();
        int size;
        try {
            size = side.read(buffer);
        } catch (IOException reset) {
            size = -1;
        }
        if (size < 0) {
            side.close();
            return;
        }
        buffer.flip();
        frames.add(buffer).forEach(each);
    }

    private void fromSlave(Frame frame) {
        if (frame.isHandshake()) {
            handshake = toMaster == null ? frame : null;
        } else {
            report = frame;
        }
    }

    private void fromMaster(Frame frame) {
        if (!frame.isHeartbeat()) {
            pushed.add(frame);
            end = frame.isHandshake() ? end : frame.offset() + frame.body();
        } else if (wantsHeartbeat) {
            heartbeat = frame;
            wantsHeartbeat = false;
        }
    }

    boolean isOpenAtSlave() {
        return toSlave.isOpen();
    }

    boolean isOpenAtMaster() {
        return toMaster != null && toMaster.isOpen();
    }

    boolean isInFlight() {
        return inFlight != null;
    }

    /**
     * Delivers the slave's handshake or report to the master. The master's next frame is then in flight: its handshake,
     * a part of its log, or a heartbeat.
     */
    void fetch() {
        if (toMaster == null) {
            shakeHands();
        } else {
            report();
        }
        if (pushed.isEmpty()) {
            askForHeartbeat();
        }
        inFlight = pushed.isEmpty() ? heartbeat : pushed.poll();
        heartbeat = null;
    }

    private void shakeHands() {
        Quiet.await(() -> seen(handshake != null), () -> slave + " does not begin a handshake with " + master);
        try {
            toMaster = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), master.port()));
            unblock(toMaster);
            String address = toMaster.getLocalAddress().toString();
            Quiet.await(() -> find(address) != null, () -> master + " does not accept " + slave);
            connection = find(address);
            atMaster = new Reading(master.reader(connection));
            sendToMaster(handshake);
            handshake = null;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        Quiet.await(() -> seen(!pushed.isEmpty()) || !isOpenAtMaster(), () -> master + " does not respond to " + slave);
    }

    private AutoSwitchHAConnection find(String address) {
        return master.ha().connections().stream()
                .filter(each -> each.getClientAddress().equals(address)).findFirst().orElse(null);
    }

    /** Delivers the slave's last report. If there is none, makes the slave send one. */
    private void report() {
        if (report == null) {
            slave.timeToReport(() -> seen(report != null));
        }
        end = Math.max(end, report.offset());
        sendToMaster(report);
        report = null;
        settle();
    }

    private void askForHeartbeat() {
        wantsHeartbeat = true;
        master.timeToSend(() -> seen(heartbeat != null) || !isOpenAtMaster());
        wantsHeartbeat = false;
    }

    private void sendToMaster(Frame frame) {
        send(toMaster, frame);
        sentToMaster += frame.bytes().length;
        Quiet.await(() -> seen(atMaster.hasHandled(sentToMaster)) || !isOpenAtMaster(),
                () -> master + " does not read what " + slave + " sent");
    }

    /** Delivers the frame in flight. The slave handles it and sends a report, or closes the connection. */
    void receive() {
        Frame frame = inFlight;
        inFlight = null;
        long before = slave.bytes();
        send(toSlave, frame);
        sentToSlave += frame.bytes().length;
        Quiet.await(() -> seen(slave.hasHandled(readBefore + sentToSlave)) || !isOpenAtSlave(),
                () -> slave + " does not read what " + master + " sent");
        if (slave.bytes() > before) {
            Quiet.await(() -> seen(report != null) || !isOpenAtSlave(), () -> slave + " does not report");
        }
    }

    private boolean seen(boolean condition) {
        look();
        return condition;
    }

    /** Waits until the master has sent everything that it is about to send. */
    void settle() {
        look();
        if (isOpenAtMaster() && end >= 0) {
            Quiet.await(() -> seen(!isOpenAtMaster() || !master.isPushing(connection)) && hasCome(),
                    () -> master + " does not push to " + slave);
        }
    }

    /**
     * Returns whether all bytes have arrived that the master counts as sent. The master counts them before it sends
     * them.
     */
    private boolean hasCome() {
        return !isOpenAtMaster() || connection.getTransferFromWhere() <= end;
    }

    /** Closes the connection at the master. */
    void cutAtMaster() {
        if (isOpenAtMaster()) {
            close(toMaster);
            master.awaitEnd(connection);
        }
    }

    /** Closes the connection because the master's process has ended. The frame in flight can still arrive. */
    void endAtMaster() {
        if (isOpenAtMaster()) {
            close(toMaster);
        }
    }

    /** Closes the connection at the slave. The frame in flight is lost. */
    void cutAtSlave() {
        inFlight = null;
        close(toSlave);
    }

    private static void unblock(SocketChannel side) {
        try {
            side.configureBlocking(false);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void send(SocketChannel side, Frame frame) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(frame.bytes());
            while (bytes.hasRemaining()) {
                side.write(bytes);
            }
        } catch (IOException broken) {
            close(side);
        }
    }

    private static void close(SocketChannel side) {
        try {
            side.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
