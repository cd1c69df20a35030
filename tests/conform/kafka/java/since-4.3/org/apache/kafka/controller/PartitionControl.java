package org.apache.kafka.controller;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
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
 * Kafka's own controller of one partition. ReplicationControlManager handles the leaders' requests, and
 * PartitionChangeBuilder writes every change of the partition. The class is in Kafka's package because the builders are
 * not public.
 *
 * <p>Only the choice of the leader is not Kafka's. The controller would elect the first eligible replica, but an event
 * names the replica. So the builder learns that no other replica is acceptable.
 */
public final class PartitionControl {
    private final Uuid topic;
    private final FeatureControlManager features;
    private final ClusterControlManager cluster;
    private final ReplicationControlManager replication;
    private long offset;

    public PartitionControl(Uuid topic, MetadataVersion version, Map<String, Object> config, Time time) {
        this.topic = topic;
        features = new FeatureControlManager.Builder()
                .setQuorumFeatures(new QuorumFeatures(0, QuorumFeatures.defaultSupportedFeatureMap(true), List.of(0))).build();
        ConfigurationControlManager configuration = new ConfigurationControlManager.Builder()
                .setKafkaConfigSchema(KafkaRaftServer.configSchema()).setStaticConfig(config).setFeatureControl(features).build();
        cluster = Builders.cluster().setTime(time).setFeatureControlManager(features).build();
        replication = new ReplicationControlManager.Builder().setConfigurationControl(configuration)
                .setClusterControl(cluster).setFeatureControl(features).build();
    }

    public PartitionRegistration partition() {
        return replication.getPartition(topic, 0);
    }

    /** Returns the eligible leader replicas (KIP-966). */
    public List<Integer> elr() {
        return IntStream.of(partition().elr).boxed().toList();
    }

    /** Returns the last known leader if the partition has no leader; -1 if there is none. */
    public int lastKnownLeader() {
        return partition().leader < 0 && partition().lastKnownElr.length > 0 ? partition().lastKnownElr[0] : -1;
    }

    /** Applies the next record of the metadata log. */
    public void replay(ApiMessage record) {
        MetadataRecords.replay(record, ++offset, features, cluster, replication);
    }

    /**
     * Returns the record that changes the ISR, and that elects a replica for which {@code mayLead} is true if the
     * current leader may not lead. Returns null if nothing changes.
     */
    public ApiMessage change(IntPredicate mayLead, List<Integer> isr, boolean unclean, List<Integer> uncleanShutdown) {
        PartitionChangeBuilder builder = Builders.change(partition(), topic, mayLead, features, replication);
        if (unclean) {
            builder.setElection(PartitionChangeBuilder.Election.UNCLEAN);
        }
        builder.setUncleanShutdownReplicas(uncleanShutdown);
        return builder.setTargetIsr(isr).build().map(ApiMessageAndVersion::message).orElse(null);
    }

    /**
     * Handles an AlterPartition request. Passes the resulting records to {@code log}, and returns the partition's
     * response.
     */
    public PartitionData alter(AlterPartitionRequestData request, short version, Consumer<ApiMessage> log) {
        ControllerRequestContext context = new ControllerRequestContext(
                new RequestHeaderData().setRequestApiKey(ApiKeys.ALTER_PARTITION.id).setRequestApiVersion(version),
                KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
        ControllerResult<AlterPartitionResponseData> result = replication.alterPartition(context, request);
        result.records().forEach(record -> log.accept(record.message()));
        return result.response().topics().get(0).partitions().get(0);
    }
}
