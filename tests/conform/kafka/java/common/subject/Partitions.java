package subject;

import org.apache.kafka.common.TopicPartition;

/** The one partition there is, and the names that belong to it. */
final class Partitions {
    static final String TOPIC = "t";
    static final int PARTITION = 0;
    static final String DIRECTORY = TOPIC + "-" + PARTITION;  // of its log, below that of the broker
    static final String HIGH_WATERMARKS = "replication-offset-checkpoint";
    static final String CHECKPOINTED = TOPIC + " " + PARTITION + " ";  // how its line begins in a checkpoint of offsets
    static final TopicPartition THE_ONE = new TopicPartition(TOPIC, PARTITION);

    private Partitions() { }
}
