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

/** Records in Kafka's old formats, which know no leader epoch. All values have one length, so all records do. */
final class Batches {
    private static final long TIMESTAMP = 1_600_000_000_000L;  // none of a message may depend on the clock

    private Batches() { }

    static MemoryRecords of(Replica.Entry entry) {
        return MemoryRecords.withRecords(
                Record.create(TIMESTAMP, null, entry.text().getBytes(StandardCharsets.UTF_8)));
    }

    /** A copy, because records that were read from a log are a part of its file, and change with it. */
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
