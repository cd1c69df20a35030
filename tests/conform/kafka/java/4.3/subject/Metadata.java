package subject;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord.BrokerEndpoint;
import org.apache.kafka.common.metadata.RegisterBrokerRecord.BrokerEndpointCollection;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.server.common.MetadataVersion;

/** A broker's replica of the metadata log: what it has of the controller's records. */
final class Metadata {
    static final Uuid TOPIC_ID = new Uuid(1, 1);

    private final Host host;
    private final KRaftMetadataCache cache;
    private MetadataImage image = MetadataImage.EMPTY;
    private boolean hasTopic;

    Metadata(Host host, MetadataVersion version, KRaftMetadataCache cache) {
        this.host = host;
        this.cache = cache;
        MetadataDelta delta = delta();
        delta.replay(new FeatureLevelRecord()
                .setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(version.featureLevel()));
        everybody().forEach(broker -> delta.replay(registration(broker)));
        publish(delta);
    }

    MetadataImage image() {
        return image;
    }

    /** The delta that a decision makes. It is one record, whether others were missed or not. */
    MetadataDelta learn(Decision decision) {
        MetadataDelta delta = delta();
        if (!hasTopic) {
            delta.replay(new TopicRecord().setName(Partitions.TOPIC).setTopicId(TOPIC_ID));
            hasTopic = true;
        }
        delta.replay(new PartitionRecord().setTopicId(TOPIC_ID).setPartitionId(Partitions.PARTITION)
                .setReplicas(everybody()).setIsr(decision.isr())
                .setLeader(decision.leader()).setLeaderEpoch(decision.epoch()).setPartitionEpoch(decision.version()));
        publish(delta);
        return delta;
    }

    /** A broker is registered anew. */
    void register(int broker) {
        MetadataDelta delta = delta();
        delta.replay(registration(broker));
        publish(delta);
    }

    private List<Integer> everybody() {
        return IntStream.range(0, host.settings().replicas()).boxed().toList();
    }

    private MetadataDelta delta() {
        return new MetadataDelta.Builder().setImage(image).build();
    }

    private void publish(MetadataDelta delta) {
        image = delta.apply(new MetadataProvenance(image.provenance().lastContainedOffset() + 1, 1, 0, true));
        cache.setImage(image);
    }

    private ApiMessage registration(int broker) {
        BrokerEndpointCollection endpoints = new BrokerEndpointCollection();
        endpoints.add(new BrokerEndpoint().setHost("broker").setPort(broker + 1)
                .setName(ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT).value())
                .setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
        return new RegisterBrokerRecord().setBrokerId(broker).setBrokerEpoch(host.brokerEpochs()[broker])
                .setIncarnationId(new Uuid(2, host.brokerEpochs()[broker])).setEndPoints(endpoints).setFenced(false)
                .setRack(null);
    }
}
