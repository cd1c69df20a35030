package subject;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.remoting.protocol.EpochEntry;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.SelectMappedBufferResult;

/** Messages of one size, so that an offset in bytes corresponds to a number of records. */
final class Log {
    static final String TOPIC = "t";
    static final int SIZE = 95;  // 91 bytes of fields and lengths, then topic and body

    private static final int QUEUE = 0;
    private static final InetSocketAddress HOST = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    private Log() { }

    static MessageExtBrokerInner message(int number) {
        MessageExtBrokerInner message = new MessageExtBrokerInner();
        message.setTopic(TOPIC);
        message.setQueueId(QUEUE);
        message.setBody("m%02d".formatted(number).getBytes(StandardCharsets.UTF_8));
        message.setBornTimestamp(1);
        message.setBornHost(HOST);
        message.setStoreHost(HOST);
        MessageAccessor.setProperties(message, new HashMap<>());
        message.setPropertiesString("");
        return message;
    }

    /**
     * Returns the records by offset, with their epochs. The epochs are from the epoch file, because a message has no
     * epoch.
     */
    static List<List<Object>> entries(DefaultMessageStore store, List<EpochEntry> epochs) {
        List<List<Object>> entries = new ArrayList<>();
        SelectMappedBufferResult found = store.getMaxPhyOffset() == 0 ? null : store.getCommitLogData(0);
        if (found == null) {
            return entries;
        }
        try {
            ByteBuffer bytes = found.getByteBuffer();
            for (long at = 0; at < store.getMaxPhyOffset(); at += SIZE) {
                MessageExt message = MessageDecoder.decode(bytes, true, false);
                int number = Integer.parseInt(new String(message.getBody(), 1, 2, StandardCharsets.UTF_8));
                entries.add(List.of("m" + number, epochAt(at, epochs)));
            }
            return entries;
        } finally {
            found.release();
        }
    }

    private static int epochAt(long offset, List<EpochEntry> epochs) {
        return epochs.stream().filter(entry -> entry.getStartOffset() <= offset)
                .mapToInt(entry -> Decision.shown(entry.getEpoch())).max().orElse(-1);
    }

    static long records(long bytes) {
        if (bytes % SIZE != 0) {
            throw new IllegalStateException(bytes + " bytes are no whole number of messages");
        }
        return bytes / SIZE;
    }
}
