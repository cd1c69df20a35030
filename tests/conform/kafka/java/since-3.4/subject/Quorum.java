package subject;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData.PartitionData;
import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord.BrokerEndpoint;
import org.apache.kafka.common.metadata.RegisterBrokerRecord.BrokerEndpointCollection;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.controller.PartitionControl;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

/** Kafka's own KRaft controller, and the metadata log that it writes. */
final class Quorum {
    static final Uuid TOPIC_ID = new Uuid(1, 1);
    private static final String ELIGIBLE_LEADERS = "eligible.leader.replicas.version";

    private final PartitionControl control;
    private final boolean hasEligibleLeaders;
    private final boolean notesAtOnce;
    private final long[] brokerEpochs;
    private final List<Object> log = new ArrayList<>();
    private final List<Object> registrations;

    /**
     * Creates the controller and the partition. If an ISR change is one event, all brokers learn broker
     * registrations at once, in a list apart from the metadata log.
     */
    Quorum(Release release, Settings settings, Rules rules, long[] brokerEpochs, FakeTime time) {
        this.brokerEpochs = brokerEpochs;
        notesAtOnce = rules.changesIsrAtOnce();
        hasEligibleLeaders = rules.tracksEligibleLeaders();
        registrations = notesAtOnce ? new ArrayList<>() : log;
        MetadataVersion version = KafkaBroker.metadataVersion(release);
        control = new PartitionControl(TOPIC_ID, version, Map.of(
                "min.insync.replicas", String.valueOf(settings.minInsyncReplicas()),
                "unclean.leader.election.enable", String.valueOf(settings.uncleanLeaderElection())), time);
        registered(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(version.featureLevel()));
        if (hasEligibleLeaders) {
            registered(new FeatureLevelRecord().setName(ELIGIBLE_LEADERS).setFeatureLevel((short) 1));
        }
        List<Integer> everybody = IntStream.range(0, settings.replicas()).boxed().toList();
        everybody.forEach(broker -> registered(registration(broker)));
        write(new TopicRecord().setName(Partitions.TOPIC).setTopicId(TOPIC_ID));
        write(new PartitionRecord().setTopicId(TOPIC_ID).setPartitionId(Partitions.PARTITION)
                .setReplicas(everybody).setIsr(everybody).setLeader(0).setLeaderEpoch(0).setPartitionEpoch(0));
    }

    boolean isKafkas() {
        return !notesAtOnce;
    }

    /**
     * Returns the decision that makes {@code leader} (or nobody) the leader with this ISR; null if nothing changes. For
     * an unclean election, the target is the former ISR: if the target contained the new leader, Kafka would count the
     * election as clean, and keep the eligible leader replicas (PartitionChangeBuilder.maybeUpdateRecordElr).
     */
    Decision change(Decision before, int leader, List<Integer> isr, boolean newEpoch, boolean unclean) {
        return write(control.change(replica -> replica == leader, unclean ? before.isr() : isr, unclean, List.of()));
    }

    /** The decision with another ISR, as a leader has written it. */
    Decision write(Decision before, List<Integer> isr) {
        return write(new PartitionChangeRecord().setTopicId(TOPIC_ID).setPartitionId(Partitions.PARTITION).setIsr(isr));
    }

    Verdict alter(Proposal proposal) {
        List<ApiMessage> records = new ArrayList<>();
        PartitionData answer = control.alter((AlterPartitionRequestData) proposal.request(),
                ApiKeys.ALTER_PARTITION.latestVersion(), records::add);
        records.forEach(this::write);
        Errors error = Errors.forCode(answer.errorCode());
        return switch (error) {
            case NONE -> Verdict.applied(current());
            case INELIGIBLE_REPLICA, OPERATION_NOT_ATTEMPTED -> new Verdict(null, true, error.code());
            default -> new Verdict(null, false, error.code());
        };
    }

    /** Returns the eligible leader replicas. */
    List<Integer> elr() {
        return control.elr();
    }

    int lastKnownLeader() {
        return control.lastKnownLeader();
    }

    boolean keepsLastMember() {
        return !hasEligibleLeaders;
    }

    /** Registers a broker again. Returns the new decision if the registration changes the partition, otherwise null. */
    Decision register(int broker, boolean clean, boolean fenced) {
        Decision changed = null;
        if (hasEligibleLeaders && !clean) {
            Decision now = current();
            List<Integer> isr = now.isr().stream().filter(member -> member != broker).toList();
            changed = write(control.change(replica -> replica == now.leader(), isr, false, List.of(broker)));
        }
        registered(registration(broker).setFenced(fenced));
        return changed;
    }

    void fence(int broker, boolean shuttingDown) {
        registered(change(broker).setFenced((byte) 1).setInControlledShutdown((byte) (shuttingDown ? 1 : 0)));
    }

    void unfence(int broker) {
        registered(change(broker).setFenced((byte) -1));
    }

    int size() {
        return log.size();
    }

    /** Returns the records between two positions in the metadata log. */
    List<Object> records(int from, int to) {
        return log.subList(from, to);
    }

    /** Returns the records that all brokers learn at once. */
    List<Object> registrations() {
        return notesAtOnce ? registrations : List.of();
    }

    private Decision write(ApiMessage record) {
        if (record == null) {
            return null;
        }
        log.add(record);
        control.replay(record);
        return record instanceof TopicRecord ? null : current();
    }

    private Decision current() {
        PartitionRegistration now = control.partition();
        return new Decision(now.leaderEpoch, now.leader, IntStream.of(now.isr).boxed().toList(), now.partitionEpoch);
    }

    private void registered(ApiMessage record) {
        registrations.add(record);
        control.replay(record);
    }

    private BrokerRegistrationChangeRecord change(int broker) {
        return new BrokerRegistrationChangeRecord().setBrokerId(broker).setBrokerEpoch(brokerEpochs[broker]);
    }

    private RegisterBrokerRecord registration(int broker) {
        BrokerEndpointCollection endpoints = new BrokerEndpointCollection();
        endpoints.add(new BrokerEndpoint().setHost("broker").setPort(broker + 1)
                .setName(ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT).value())
                .setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
        return new RegisterBrokerRecord().setBrokerId(broker).setBrokerEpoch(brokerEpochs[broker])
                .setIncarnationId(new Uuid(2, brokerEpochs[broker])).setEndPoints(endpoints).setFenced(false)
                .setRack(null);
    }
}
