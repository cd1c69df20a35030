package subject;

import kafka.log.AppendOrigin;
import kafka.log.ProducerStateEntry;
import kafka.log.ProducerStateManager;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.RecordBatch;
import scala.Option;

/** Asks a log which sequence numbers it would reject. */
final class Sequences {
    private Sequences() { }

    /** Returns whether the log would reject a batch as out of sequence (Log.analyzeAndValidateProducerState). */
    static boolean reject(ProducerStateManager known, MemoryRecords records) {
        RecordBatch batch = records.batches().iterator().next();
        if (!batch.hasProducerId() || isDuplicate(known, batch)) {
            return false;
        }
        try {
            known.prepareUpdate(batch.producerId(), AppendOrigin.Client$.MODULE$).append(batch, Option.empty());
            return false;
        } catch (OutOfOrderSequenceException rejected) {
            return true;
        }
    }

    /** Returns whether the log has the batch. Kafka answers a duplicate before it compares sequence numbers. */
    private static boolean isDuplicate(ProducerStateManager known, RecordBatch batch) {
        Option<ProducerStateEntry> entry = known.lastEntry(batch.producerId());
        return entry.isDefined() && entry.get().findDuplicateBatch(batch).isDefined();
    }
}
