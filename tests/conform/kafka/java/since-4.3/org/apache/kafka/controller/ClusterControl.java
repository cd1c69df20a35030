package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData.Feature;
import org.apache.kafka.common.message.BrokerRegistrationRequestData.FeatureCollection;
import org.apache.kafka.common.message.BrokerRegistrationRequestData.Listener;
import org.apache.kafka.common.message.BrokerRegistrationRequestData.ListenerCollection;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.FinalizedControllerFeatures;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Kafka's own controller, with the sessions of the brokers, which {@link PartitionControl} does not have.
 * ClusterControlManager registers, fences and unfences brokers. ReplicationControlManager changes the partition. The
 * class is in Kafka's package because the builders are not public.
 */
public final class ClusterControl {
    public static final String CLUSTER = "cluster";
    private static final int CONTROLLER = 9;
    private static final short ALTER_PARTITION = ApiKeys.ALTER_PARTITION.latestVersion();

    private final Uuid topic;
    private final FeatureControlManager features;
    private final ClusterControlManager cluster;
    private final ReplicationControlManager replication;
    private final List<Object> log = new ArrayList<>();

    public ClusterControl(Uuid topic, MetadataVersion version, Time time) {
        this.topic = topic;
        features = new FeatureControlManager.Builder().setQuorumFeatures(new QuorumFeatures(
                CONTROLLER, QuorumFeatures.defaultSupportedFeatureMap(true), List.of(CONTROLLER))).build();
        ConfigurationControlManager configuration = new ConfigurationControlManager.Builder()
                .setKafkaConfigSchema(KafkaRaftServer.configSchema()).setFeatureControl(features).build();
        ReplicationControlManager[] built = new ReplicationControlManager[1];
        cluster = new ClusterControlManager.Builder()
                .setTime(time).setClusterId(CLUSTER).setFeatureControlManager(features)
                .setBrokerShutdownHandler(
                        (broker, isClean, records) -> built[0].handleBrokerShutdown(broker, isClean, records))
                .build();
        replication = new ReplicationControlManager.Builder().setConfigurationControl(configuration)
                .setClusterControl(cluster).setFeatureControl(features).build();
        built[0] = replication;
        write(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(version.featureLevel()));
        cluster.activate();
    }

    /** Returns the metadata log. */
    public List<Object> log() {
        return log;
    }

    public PartitionRegistration partition() {
        return replication.getPartition(topic, 0);
    }

    public BrokerRegistration broker(int id) {
        return cluster.registration(id);
    }

    /** Appends a record to the metadata log, and applies it. */
    public void write(ApiMessage record) {
        long offset = log.size();
        log.add(record);
        MetadataRecords.replay(record, offset, features, cluster, replication);
    }

    /**
     * Registers a process. Returns its broker epoch, which is the next offset of the metadata log as in
     * QuorumController.registerBroker. Throws DuplicateBrokerRegistrationException during another process's session.
     */
    public long register(BrokerRegistrationRequestData request) {
        Map<String, Short> levels = new HashMap<>(features.finalizedFeatures(Long.MAX_VALUE).featureMap());
        return written(cluster.registerBroker(request, log.size(),
                new FinalizedControllerFeatures(levels, Long.MAX_VALUE), true)).epoch();
    }

    /** The registration request of a new process. A broker keeps its log directory. */
    public static BrokerRegistrationRequestData registration(int broker) {
        FeatureCollection supported = new FeatureCollection();
        QuorumFeatures.defaultSupportedFeatureMap(true).forEach((name, range) -> supported.add(new Feature()
                .setName(name).setMinSupportedVersion(range.min()).setMaxSupportedVersion(range.max())));
        return new BrokerRegistrationRequestData().setBrokerId(broker).setClusterId(CLUSTER)
                .setIncarnationId(Uuid.randomUuid()).setListeners(listeners(broker)).setFeatures(supported)
                .setLogDirs(List.of(logDirectory(broker))).setPreviousBrokerEpoch(-1);
    }

    public static ListenerCollection listeners(int broker) {
        ListenerCollection listeners = new ListenerCollection();
        listeners.add(new Listener().setName("PLAINTEXT").setHost("broker").setPort(broker + 1));
        return listeners;
    }

    public static Uuid logDirectory(int broker) {
        return new Uuid(7, broker + 1);
    }

    /** Handles a heartbeat of a broker that has read the metadata log to its end. A fenced broker is unfenced. */
    public void heartbeat(int broker) {
        long epoch = broker(broker).epoch();
        cluster.trackBrokerHeartbeat(broker, epoch);  // QuorumController.processBrokerHeartbeat, before the event
        BrokerHeartbeatRequestData request = new BrokerHeartbeatRequestData().setBrokerId(broker).setBrokerEpoch(epoch)
                .setCurrentMetadataOffset(log.size()).setWantFence(false);
        written(replication.processBrokerHeartbeat(
                request, cluster.registerBrokerRecordOffset(broker).getAsLong()));
    }

    /** Fences the brokers whose sessions have ended, as QuorumController's task maybeFenceStaleBroker does. */
    public void fenceStale() {
        for (int tick = 0; tick < cluster.brokerRegistrations().size(); tick++) {
            written(replication.maybeFenceOneStaleBroker());
        }
    }

    /** Handles an AlterPartition request for the partition, after its way over the wire. Returns the result. */
    public Errors alter(AlterPartitionRequestData request) {
        AlterPartitionRequestData received = new AlterPartitionRequestData(
                MessageUtil.toByteBufferAccessor(request, ALTER_PARTITION), ALTER_PARTITION);
        ControllerRequestContext context = new ControllerRequestContext(
                new RequestHeaderData().setRequestApiKey(ApiKeys.ALTER_PARTITION.id)
                        .setRequestApiVersion(ALTER_PARTITION),
                KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
        AlterPartitionResponseData response = written(replication.alterPartition(context, received));
        return Errors.forCode(response.topics().get(0).partitions().get(0).errorCode());
    }

    private <T> T written(ControllerResult<T> result) {
        result.records().forEach(record -> write(record.message()));
        return result.response();
    }
}
