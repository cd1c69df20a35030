package subject;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.store.ha.HAConnectionState;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAClient;
import org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAConnection;

/**
 * The frames in one direction of a connection between a slave and its master. An incomplete frame waits for its
 * remaining bytes.
 */
final class Frames {
    /**
     * @param state the state of the connection: handshake, or transfer of the log
     * @param offset the slave's log end, or the master's offset of the body; -1 in a slave's handshake
     * @param body the size of the log or of the epochs in the frame. 5.3.3 sends a negative number if the slave's log
     *     end belongs to no epoch of the master's epoch file (AutoSwitchHAConnection.transferToSlave)
     */
    record Frame(HAConnectionState state, long offset, int body, byte[] bytes) {
        boolean isHandshake() {
            return state == HAConnectionState.HANDSHAKE;
        }

        boolean isHeartbeat() {
            return state == HAConnectionState.TRANSFER && body == 0;
        }
    }

    private final boolean fromMaster;
    private ByteBuffer rest = ByteBuffer.allocate(1 << 16);

    Frames(boolean fromMaster) {
        this.fromMaster = fromMaster;
    }

    /** Adds bytes. Returns the frames that are now complete. */
    List<Frame> add(ByteBuffer come) {
        rest.put(come);
        rest.flip();
        List<Frame> whole = new ArrayList<>();
        for (Frame frame = next(); frame != null; frame = next()) {
            whole.add(frame);
        }
        rest.compact();
        return whole;
    }

    private Frame next() {
        int start = rest.position();
        if (rest.remaining() < 2 * Integer.BYTES) {
            return null;
        }
        if (rest.getInt(start) >= HAConnectionState.values().length) {
            return garbage();
        }
        HAConnectionState state = HAConnectionState.values()[rest.getInt(start)];
        boolean handshake = state == HAConnectionState.HANDSHAKE;
        int body = fromMaster ? rest.getInt(start + Integer.BYTES) : 0;
        int size = headerSize(handshake) + Math.max(0, body);
        if (rest.remaining() < size) {
            return null;
        }
        byte[] bytes = new byte[size];
        rest.get(bytes);
        int offsetAt = start + Integer.BYTES + (fromMaster ? Integer.BYTES : 0);
        return new Frame(state, handshake && !fromMaster ? -1 : rest.getLong(offsetAt), body, bytes);
    }

    /**
     * Returns the remaining bytes as one frame. After a frame with a negative size, 5.3.3 sends parts of the log
     * without a header, and these cannot be parsed.
     */
    private Frame garbage() {
        byte[] bytes = new byte[rest.remaining()];
        rest.get(bytes);
        return new Frame(HAConnectionState.SUSPEND, Long.MAX_VALUE, 0, bytes);
    }

    private int headerSize(boolean handshake) {
        if (fromMaster) {
            return handshake ? AutoSwitchHAConnection.HANDSHAKE_HEADER_SIZE : AutoSwitchHAConnection.TRANSFER_HEADER_SIZE;
        }
        return handshake ? AutoSwitchHAClient.HANDSHAKE_HEADER_SIZE : AutoSwitchHAClient.TRANSFER_HEADER_SIZE;
    }
}
