package org.apache.kafka.controller;

import java.util.function.IntPredicate;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.PartitionRegistration;

/** The builders of Kafka's controller that differ between 3.9 and 3.7. */
final class Builders {
    private Builders() { }

    static ClusterControlManager.Builder cluster() {
        return new ClusterControlManager.Builder().setBrokerUncleanShutdownHandler((broker, records) -> { });
    }

    static PartitionChangeBuilder change(PartitionRegistration partition, Uuid topic, IntPredicate mayLead,
            FeatureControlManager features, ReplicationControlManager replication) {
        return new PartitionChangeBuilder(partition, topic, 0, mayLead, features.metadataVersion(),
                replication.getTopicEffectiveMinIsr("t"))
                .setDefaultDirProvider(broker -> DirectoryId.UNASSIGNED);
    }
}
