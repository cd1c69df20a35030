package org.apache.kafka.controller;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.AlterPartitionResponseData.PartitionData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Kafka's own controller of one partition: its ReplicationControlManager handles what leaders ask for, and its
 * PartitionChangeBuilder writes every change of the partition. In Kafka's package, for the builders are not public.
 *
 * <p>What is not Kafka's is who is elected: the controller would take the first replica that it may, and an event names
 * one. So the builder is told that no other would be acceptable.
 */
public final class PartitionControl {
    private final Uuid topic;
    private final FeatureControlManager features;
    private final ClusterControlManager cluster;
    private final ReplicationControlManager replication;
    private long offset;

    public PartitionControl(Uuid topic, MetadataVersion version, Map<String, Object> config, Time time) {
        this.topic = topic;
        features = new FeatureControlManager.Builder().setMetadataVersion(version).build();
        ConfigurationControlManager configuration = new ConfigurationControlManager.Builder()
                .setKafkaConfigSchema(KafkaRaftServer.configSchema()).setStaticConfig(config).build();
        cluster = Builders.cluster().setTime(time).setFeatureControlManager(features).build();
        replication = new ReplicationControlManager.Builder().setConfigurationControl(configuration)
                .setClusterControl(cluster).setFeatureControl(features).build();
    }

    public PartitionRegistration partition() {
        return replication.getPartition(topic, 0);
    }

    /** The eligible leader replicas (KIP-966). */
    public List<Integer> elr() {
        return List.of();
    }

    /** Who led last, where nobody does; -1 for nobody. */
    public int lastKnownLeader() {
        return -1;
    }

    /** A record is in the metadata log. */
    public void replay(ApiMessage record) {
        MetadataRecords.replay(record, ++offset, features, cluster, replication);
    }

    /**
     * The record by which the ISR becomes another one, and a replica for which {@code mayLead} is true leads, if the one
     * that leads may not; null if all stays as it is.
     */
    public ApiMessage change(IntPredicate mayLead, List<Integer> isr, boolean unclean, List<Integer> uncleanShutdown) {
        PartitionChangeBuilder builder = Builders.change(partition(), topic, mayLead, features, replication);
        if (unclean) {
            builder.setElection(PartitionChangeBuilder.Election.UNCLEAN);
        }
        return builder.setTargetIsr(isr).build().map(ApiMessageAndVersion::message).orElse(null);
    }

    /** What becomes of an AlterPartition request, and the record by which it does, if any. */
    public PartitionData alter(AlterPartitionRequestData request, short version, Consumer<ApiMessage> log) {
        ControllerRequestContext context = new ControllerRequestContext(
                new RequestHeaderData().setRequestApiKey(ApiKeys.ALTER_PARTITION.id).setRequestApiVersion(version),
                KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
        ControllerResult<AlterPartitionResponseData> result = replication.alterPartition(context, request);
        result.records().forEach(record -> log.accept(record.message()));
        return result.response().topics().get(0).partitions().get(0);
    }
}
