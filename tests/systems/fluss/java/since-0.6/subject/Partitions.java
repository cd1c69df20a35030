package subject;

import org.apache.fluss.metadata.PhysicalTablePath;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TablePath;

/** The one bucket there is, of a log table, and the names that belong to it. */
final class Partitions {
    static final TablePath TABLE = TablePath.of("d", "t");
    static final long TABLE_ID = 1;
    static final TableBucket THE_ONE = new TableBucket(TABLE_ID, 0);
    static final PhysicalTablePath PATH = PhysicalTablePath.of(TABLE);
    static final String DIRECTORY = "d/t-1/log-0";  // of its log, below that of the server (FlussPaths.logTabletDir)
    static final String HIGH_WATERMARKS = "high-watermark-checkpoint";
    static final String CHECKPOINTED = "1 0 ";  // how its line begins there (OffsetCheckpointFile)

    private Partitions() { }
}
