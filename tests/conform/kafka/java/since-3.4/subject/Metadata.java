package subject;

import java.util.List;
import java.util.stream.IntStream;
import kafka.server.metadata.KRaftMetadataCache;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
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
import org.apache.kafka.server.common.MetadataVersion;

/** A broker's replica of the metadata log: what it has of the controller's records. */
final class Metadata {
    static final Uuid TOPIC_ID = new Uuid(1, 1);

    private final Host host;
    private final KRaftMetadataCache cache;
    private MetadataImage image = MetadataImage.EMPTY;
    private Decision partition;  // as it is in the image, null before it is there

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

    /** The one delta that a number of decisions make. */
    MetadataDelta learn(List<Decision> decisions) {
        MetadataDelta delta = delta();
        int epoch = partition == null ? -1 : partition.epoch();
        for (Decision decision : decisions) {
            delta.replay(epoch < 0 ? created(delta, decision) : changed(decision, decision.epoch() > epoch));
            epoch = decision.epoch();
        }
        partition = decisions.get(decisions.size() - 1);
        publish(delta);
        return delta;
    }

    private ApiMessage created(MetadataDelta delta, Decision decision) {
        delta.replay(new TopicRecord().setName(Partitions.TOPIC).setTopicId(TOPIC_ID));
        return new PartitionRecord().setTopicId(TOPIC_ID).setPartitionId(Partitions.PARTITION)
                .setReplicas(everybody()).setIsr(decision.isr()).setLeader(decision.leader())
                .setLeaderEpoch(decision.epoch()).setPartitionEpoch(decision.version());
    }

    /** A record that names a leader, be it the same, makes a new leader epoch; each makes a new partition epoch. */
    private static ApiMessage changed(Decision decision, boolean newEpoch) {
        PartitionChangeRecord record = new PartitionChangeRecord().setTopicId(TOPIC_ID)
                .setPartitionId(Partitions.PARTITION).setIsr(decision.isr());
        return newEpoch ? record.setLeader(decision.leader()) : record;
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
        image = delta.apply(new MetadataProvenance(image.provenance().lastContainedOffset() + 1, 1, 0));
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
