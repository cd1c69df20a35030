package subject;

import java.util.Optional;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;

/** Asks a log which sequence numbers it would reject. */
final class Sequences {
    private Sequences() { }

    /** Returns whether the log would reject a batch as out of sequence (UnifiedLog.analyzeAndValidateProducerState). */
    static boolean reject(ProducerStateManager known, MemoryRecords records) {
        RecordBatch batch = records.batches().iterator().next();
        if (!batch.hasProducerId() || isDuplicate(known, batch)) {
            return false;
        }
        try {
            known.prepareUpdate(batch.producerId(), AppendOrigin.CLIENT).append(batch, Optional.empty());
            return false;
        } catch (OutOfOrderSequenceException rejected) {
            return true;
        }
    }

    /** Returns whether the log has the batch. Kafka answers a duplicate before it compares sequence numbers. */
    private static boolean isDuplicate(ProducerStateManager known, RecordBatch batch) {
        return known.lastEntry(batch.producerId()).map(entry -> (Optional<?>) Reflect.call(
                entry, ProducerStateEntry.class, "findDuplicateBatch", RecordBatch.class, batch))
                .filter(Optional::isPresent).isPresent();
    }
}
