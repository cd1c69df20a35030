package org.apache.kafka.controller;

import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;

/** Applies records of the metadata log to the parts of Kafka's controller, as QuorumController.replay does. */
final class MetadataRecords {
    private MetadataRecords() { }

    /** Applies the record at an offset of the metadata log. */
    static void replay(ApiMessage record, long offset, FeatureControlManager features, ClusterControlManager cluster,
            ReplicationControlManager replication) {
        if (record instanceof FeatureLevelRecord feature) {
            features.replay(feature);
        } else if (record instanceof RegisterBrokerRecord registration) {
            cluster.replay(registration, offset);
        } else if (record instanceof BrokerRegistrationChangeRecord change) {
            cluster.replay(change);
        } else if (record instanceof TopicRecord created) {
            replication.replay(created);
        } else if (record instanceof PartitionRecord created) {
            replication.replay(created);
        } else {
            replication.replay((PartitionChangeRecord) record);
        }
    }
}
