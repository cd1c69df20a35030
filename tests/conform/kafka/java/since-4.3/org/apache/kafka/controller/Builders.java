package org.apache.kafka.controller;

import java.util.function.IntPredicate;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.PartitionRegistration;

/** The builders of Kafka's controller that differ between 4.3 and 3.9. */
final class Builders {
    private Builders() { }

    static ClusterControlManager.Builder cluster() {
        return new ClusterControlManager.Builder().setBrokerShutdownHandler((broker, isClean, records) -> { });
    }

    static PartitionChangeBuilder change(PartitionRegistration partition, Uuid topic, IntPredicate mayLead,
            FeatureControlManager features, ReplicationControlManager replication) {
        return new PartitionChangeBuilder(partition, topic, 0, mayLead, features.metadataVersionOrThrow(),
                replication.getTopicEffectiveMinIsr("t"), features.isElrFeatureEnabled())
                .setDefaultDirProvider(broker -> DirectoryId.UNASSIGNED);
    }
}
