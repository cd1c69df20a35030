package subject;

import org.apache.fluss.metadata.PhysicalTablePath;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TablePath;

/** The adapter's only bucket, of a log table, and the file names that belong to it. */
final class Partitions {
    static final TablePath TABLE = TablePath.of("d", "t");
    static final long TABLE_ID = 1;
    static final TableBucket THE_ONE = new TableBucket(TABLE_ID, 0);
    static final PhysicalTablePath PATH = PhysicalTablePath.of(TABLE);
    // of its log, in the server's data directory (FlussPaths.logTabletDir)
    static final String DIRECTORY = "d/t-1/log-0";
    static final String HIGH_WATERMARKS = "high-watermark-checkpoint";
    static final String CHECKPOINTED = "1 0 ";  // the start of its line in a checkpoint file (OffsetCheckpointFile)

    private Partitions() { }
}
