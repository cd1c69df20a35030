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
 * A slave's connection to a master, held in the middle: what one of them sends stays here until an event lets it through.
 *
 * <p>What means nothing to who has it already is thrown away: a report of the same end, a second handshake while the first
 * one waits, a heartbeat that nobody has asked for. That is as if the time to send it had not come.
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
    private final long readBefore;  // by the slave, of other connections
    private Frame handshake;
    private Frame report;
    private Frame heartbeat;
    private boolean wantsHeartbeat;
    private long end = -1;  // of the log that has come from the master, which begins where the slave's first report ends
    private Frame inFlight;

    Link(Broker slave, Broker master) {
        this.slave = slave;
        this.master = master;
        readBefore = slave.read();
        toSlave = slave.accept();
        unblock(toSlave);
    }

    /** Takes what has come from either side. */
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

    /** The slave's request reaches the master, and something of what that sends is in flight: its handshake, or its log. */
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
        Quiet.await(() -> seen(!pushed.isEmpty()) || !isOpenAtMaster(), () -> master + " does not answer " + slave);
    }

    private AutoSwitchHAConnection find(String address) {
        return master.ha().connections().stream()
                .filter(each -> each.getClientAddress().equals(address)).findFirst().orElse(null);
    }

    /** What the slave has told last, or tells now that it is time for it. */
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

    /** What is in flight reaches the slave, which handles it and tells what it has; or breaks the connection. */
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

    /** The master has pushed all that it has, if it is about to. */
    void settle() {
        look();
        if (isOpenAtMaster() && end >= 0) {
            Quiet.await(() -> seen(!isOpenAtMaster() || !master.isPushing(connection)) && hasCome(),
                    () -> master + " does not push to " + slave);
        }
    }

    /** Whether all is here that the master says to have pushed; it says so before it does. */
    private boolean hasCome() {
        return !isOpenAtMaster() || connection.getTransferFromWhere() <= end;
    }

    /** The connection is lost, as the master notices. */
    void cutAtMaster() {
        if (isOpenAtMaster()) {
            close(toMaster);
            master.awaitEnd(connection);
        }
    }

    /** The master's process has ended; what is in flight may still come. */
    void endAtMaster() {
        if (isOpenAtMaster()) {
            close(toMaster);
        }
    }

    /** The connection is lost, as the slave notices; what is in flight goes with it. */
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
