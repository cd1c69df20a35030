package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.SimpleRecord;

/**
 * Records in Kafka's formats, with one record per batch. All values have the same length, and so have all batches of a
 * format.
 */
final class Batches {
    private static final long PRODUCER = 7;
    private static final long TIMESTAMP = 1_600_000_000_000L;  // a constant, so that no message depends on the clock

    private Batches() { }

    static MemoryRecords of(int record, int leaderEpoch, byte magic) {
        return MemoryRecords.withRecords(magic, Compression.NONE, written(record, leaderEpoch));
    }

    /** Returns a batch with a producer id, producer epoch and sequence number, which format 2 introduced (KIP-98). */
    static MemoryRecords of(Sent sent, int leaderEpoch, byte magic) {
        return magic < RecordBatch.MAGIC_VALUE_V2 ? of(sent.record(), leaderEpoch, magic)
                : MemoryRecords.withIdempotentRecords(magic, 0, Compression.NONE, PRODUCER, (short) sent.producerEpoch(),
                        sent.sequence(), RecordBatch.NO_PARTITION_LEADER_EPOCH, written(sent.record(), leaderEpoch));
    }

    private static SimpleRecord written(int record, int leaderEpoch) {
        String value = new Replica.Entry(record, leaderEpoch).text();
        return new SimpleRecord(TIMESTAMP, null, value.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns the records in memory. Records that were read from a log are a slice of its file, and would change with
     * the file.
     */
    static MemoryRecords copy(Records records) {
        if (records instanceof MemoryRecords inMemory) {
            return inMemory;
        }
        try {
            FileRecords file = (FileRecords) records;
            ByteBuffer buffer = ByteBuffer.allocate(file.sizeInBytes());
            file.readInto(buffer, 0);
            return MemoryRecords.readableRecords(buffer);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    static List<Replica.Entry> onDisk(Disk disk) {
        try {
            List<Replica.Entry> entries = new ArrayList<>();
            ByteBuffer bytes = ByteBuffer.wrap(
                    Files.exists(disk.segment()) ? Files.readAllBytes(disk.segment()) : new byte[0]);
            for (MutableRecordBatch batch : MemoryRecords.readableRecords(bytes).batches()) {
                for (Record record : batch) {
                    Replica.Entry written = Replica.Entry.of(StandardCharsets.UTF_8.decode(record.value()).toString());
                    boolean hasEpoch = batch.magic() >= RecordBatch.MAGIC_VALUE_V2;
                    entries.add(hasEpoch ? written.withEpoch(batch.partitionLeaderEpoch()) : written);
                }
            }
            return entries;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
