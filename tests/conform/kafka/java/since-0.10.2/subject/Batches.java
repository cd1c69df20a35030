package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.LogEntry;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.Records;

/**
 * Records in Kafka's old formats, which have no leader epoch. All values have the same length, and so have all records.
 */
final class Batches {
    private static final long TIMESTAMP = 1_600_000_000_000L;  // a constant, so that no message depends on the clock

    private Batches() { }

    static MemoryRecords of(Replica.Entry entry) {
        return MemoryRecords.withRecords(
                Record.create(TIMESTAMP, null, entry.text().getBytes(StandardCharsets.UTF_8)));
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
            return MemoryRecords.readableRecords(file.readInto(ByteBuffer.allocate(file.sizeInBytes()), 0));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    static List<Replica.Entry> onDisk(Disk disk) {
        try {
            List<Replica.Entry> entries = new ArrayList<>();
            ByteBuffer bytes = ByteBuffer.wrap(
                    Files.exists(disk.segment()) ? Files.readAllBytes(disk.segment()) : new byte[0]);
            for (LogEntry entry : MemoryRecords.readableRecords(bytes).deepEntries()) {
                entries.add(Replica.Entry.of(StandardCharsets.UTF_8.decode(entry.record().value()).toString()));
            }
            return entries;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
