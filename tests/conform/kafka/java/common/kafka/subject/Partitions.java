package subject;

import org.apache.kafka.common.TopicPartition;

/** The one partition there is, and the names that belong to it. */
final class Partitions {
    static final String TOPIC = "t";
    static final int PARTITION = 0;
    static final TopicPartition THE_ONE = new TopicPartition(TOPIC, PARTITION);

    private Partitions() { }
}
