package subject;

import org.apache.kafka.common.TopicPartition;

/** The adapter's only partition, and the file names that belong to it. */
final class Partitions {
    static final String TOPIC = "t";
    static final int PARTITION = 0;
    static final String DIRECTORY = TOPIC + "-" + PARTITION;  // of its log, in the broker's log directory
    static final String HIGH_WATERMARKS = "replication-offset-checkpoint";
    static final String CHECKPOINTED = TOPIC + " " + PARTITION + " ";  // the start of its line in a checkpoint file
    static final TopicPartition THE_ONE = new TopicPartition(TOPIC, PARTITION);

    private Partitions() { }
}
