package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.fluss.memory.UnmanagedPagedOutputView;
import org.apache.fluss.record.ChangeType;
import org.apache.fluss.record.FileLogRecords;
import org.apache.fluss.record.LogRecordBatch;
import org.apache.fluss.record.LogRecords;
import org.apache.fluss.record.MemoryLogRecords;
import org.apache.fluss.record.MemoryLogRecordsIndexedBuilder;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.indexed.IndexedRow;
import org.apache.fluss.row.indexed.IndexedRowWriter;
import org.apache.fluss.types.DataType;

/**
 * Batches with one record each. The record's value is its number and the leader epoch in which it was written. All
 * batches have the same size.
 */
final class Batches {
    private static final DataType[] TYPES = Tables.SCHEMA.getRowType().getChildren().toArray(new DataType[0]);
    private static final byte MAGIC = 0;
    private static final int PAGE = 1000;
    private static final int TEXT = 6;
    private static final boolean HAVE_WRITERS = Boolean.getBoolean("writers");

    static final int SIZE = of(new Replica.Entry(0, 0)).sizeInBytes();

    private Batches() { }

    static MemoryLogRecords of(Replica.Entry entry) {
        try {
            IndexedRowWriter writer = new IndexedRowWriter(TYPES);
            writer.writeString(BinaryString.fromString(entry.text()));
            IndexedRow row = new IndexedRow(TYPES);
            row.pointTo(writer.segment(), 0, writer.position());
            MemoryLogRecordsIndexedBuilder builder = MemoryLogRecordsIndexedBuilder.builder(
                    0, Tables.schemaId(), Integer.MAX_VALUE, MAGIC, new UnmanagedPagedOutputView(PAGE));
            if (HAVE_WRITERS) {  // the default of Fluss's client: client.writer.enable-idempotence
                builder.setWriterState(entry.number(), 0);
            }
            builder.append(ChangeType.APPEND_ONLY, row);
            MemoryLogRecords records = MemoryLogRecords.pointToBytesView(builder.build());
            builder.close();
            return records;
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    /**
     * Returns the records in memory. Records that were read from a log are a slice of its file, and would change with
     * the file.
     */
    static MemoryLogRecords copy(LogRecords records) {
        if (!(records instanceof FileLogRecords file)) {
            return (MemoryLogRecords) records;
        }
        try {
            ByteBuffer bytes = ByteBuffer.allocate(file.sizeInBytes());
            file.readInto(bytes, 0);
            return MemoryLogRecords.pointToBytes(bytes.array(), 0, file.sizeInBytes());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /**
     * Returns the records by offset. If several records have the same offset, it returns the first: a follower can
     * append a late response at the wrong offset (docs/findings/fluss.md). An incomplete batch at the end, after a loss
     * of power, is left out.
     */
    static List<Replica.Entry> onDisk(Disk disk) {
        List<Replica.Entry> entries = new ArrayList<>();
        disk.segments().forEach(segment -> read(segment, entries));
        return entries;
    }

    private static void read(Path segment, List<Replica.Entry> entries) {
        try {
            byte[] bytes = Files.readAllBytes(segment);
            int position = 0;
            for (LogRecordBatch batch : MemoryLogRecords.pointToBytes(bytes).batches()) {
                if (batch.baseLogOffset() > entries.size()) {
                    throw new IllegalStateException("offset " + batch.baseLogOffset() + " after " + entries);
                }
                position += batch.sizeInBytes();
                if (batch.baseLogOffset() == entries.size()) {
                    entries.add(Replica.Entry.of(new String(bytes, position - TEXT, TEXT, StandardCharsets.UTF_8)));
                }
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
