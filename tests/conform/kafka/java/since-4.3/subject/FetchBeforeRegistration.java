package subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.controller.ClusterControl;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.PartitionRegistration;

/**
 * A process of a broker fetches before its registration, with the broker epoch -1, and a later process of the broker
 * joins the ISR without the records. docs/findings/fetch-before-registration.md describes the steps. Arguments: the
 * release, an empty directory, and optionally {@code late}.
 *
 * <p>Without {@code late}, the leader's AlterPartition request is delayed. With {@code late}, a fetch is delayed. The
 * exit code is 0 if the controller accepts the broker epoch -1 and the records are lost, 1 if not, and 2 if the program
 * fails.
 */
public final class FetchBeforeRegistration {
    private static final int LOST = 0;
    private static final int KEPT = 1;
    private static final int FAILED = 2;
    private static final int A = 0;
    private static final int B = 1;
    private static final int RECORDS = 3;
    private static final int ATTEMPTS = 2;
    private static final int PART_OF_SESSION_MS = 5000;  // broker.session.timeout.ms is 9000

    private final FakeTime time = new FakeTime();
    private final Release release;
    private final Path directory;
    private final ClusterControl controller;
    private BrokerProcess leader;
    private int steps;

    private FetchBeforeRegistration(Release release, Path directory) {
        this.release = release;
        this.directory = directory;
        controller = new ClusterControl(Quorum.TOPIC_ID, KafkaBroker.metadataVersion(release), time);
    }

    public static void main(String[] arguments) {
        int code = FAILED;
        try {
            boolean late = arguments.length > 2 && arguments[2].equals("late");
            code = new FetchBeforeRegistration(Release.of(arguments[0]), Path.of(arguments[1])).run(late);
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
        System.out.flush();
        Runtime.getRuntime().halt(code);  // Kafka's threads may still run
    }

    private int run(boolean late) throws Exception {
        createPartition();
        restartOutsideIsr();
        long epochOfP1 = controller.broker(B).epoch();
        Unregistered registration = askForRegistration();
        BrokerProcess second = start(B, registration.brokerEpoch(), directory("B2"));
        if (registration.brokerEpoch() != -1 || !replicate(second, leader, "P2")) {
            return kept("P2 sends no fetch with the broker epoch -1");
        }
        Optional<FetchRequest> delayed = delay(second, late);
        registration.abandon();
        BrokerProcess third = restartWithoutRecords(second);
        if (late) {
            receiveLate(delayed.orElseThrow(), epochOfP1, third);
        }
        if (leader.proposal().isEmpty()) {
            return kept("A does not propose B for the ISR");
        }
        return accepts(leader.proposal().get(), epochOfP1)
                ? fail(third) : kept("the controller does not accept the broker epoch -1");
    }

    private void createPartition() {
        for (int broker : List.of(A, B)) {
            register(broker);
        }
        controller.write(new TopicRecord().setName(Partitions.TOPIC).setTopicId(Quorum.TOPIC_ID));
        controller.write(new PartitionRecord().setTopicId(Quorum.TOPIC_ID).setPartitionId(Partitions.PARTITION)
                .setReplicas(List.of(A, B)).setIsr(List.of(A, B)).setLeader(A).setLeaderEpoch(0).setPartitionEpoch(0));
        step("A and B are registered: " + state());
    }

    private void restartOutsideIsr() throws IOException {
        endSession(A);
        step("B's process ends, and then its session: " + state());
        register(B);
        step("P1, a new process of B, is registered and unfenced, and has not caught up: " + state());
        leader = start(A, controller.broker(A).epoch(), directory("A"));
        for (int record = 0; record < RECORDS; record++) {
            leader.append(record);
        }
        Replica replica = leader.replica();
        step("A acknowledges " + RECORDS + " records (acks=all): LEO " + replica.leo() + ", HW " + replica.hw());
    }

    /** Starts P2 while P1's session is valid, so the controller rejects P2's registration. */
    private Unregistered askForRegistration() throws InterruptedException {
        step("P1 is killed. P2 starts at once, and asks for its registration during P1's session");
        Unregistered registration = new Unregistered(B, release, time);
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            detail("BrokerRegistration: " + registration.attempt(controller::register));
        }
        detail("P2 applies the metadata log. Its broker epoch is " + registration.brokerEpoch());
        return registration;
    }

    /**
     * Delays P2's next fetch (late), or the AlterPartition request that results from that fetch. Returns the delayed
     * fetch.
     */
    private Optional<FetchRequest> delay(BrokerProcess second, boolean late) {
        if (late) {
            Optional<FetchRequest> fetch = second.fetch(leader);
            step("P2's next fetch is delayed: " + described(fetch.orElseThrow()));
            return fetch;
        }
        replicate(second, leader, "P2");
        step("A's AlterPartition request is delayed. A proposes " + proposed());
        return Optional.empty();
    }

    private BrokerProcess restartWithoutRecords(BrokerProcess second) {
        step("B loses power, and with it the records, which were not flushed");
        second.abandon();
        Disk disk = second.disk().copyTo(directory.resolve("B3")).loseAllBut(0);
        endSession(A);
        detail("B's session ends: " + state());
        register(B);
        detail("P3 is registered and unfenced: " + state());
        leader.catchUp(controller.log());
        return start(B, controller.broker(B).epoch(), disk);
    }

    /** Delivers P2's fetch after P3's: first with P1's broker epoch for comparison, then with the broker epoch -1. */
    private void receiveLate(FetchRequest delayed, long epochOfP1, BrokerProcess third) {
        FetchRequest fetch = third.fetch(leader).orElseThrow();
        step("P3 sends a " + described(fetch) + ": " + error(leader.serve(fetch)));
        detail("A knows LEO " + leader.remoteLeo(B) + " of B");
        for (long epoch : List.of(epochOfP1, -1L)) {
            FetchRequestData data = delayed.data().duplicate();
            data.replicaState().setReplicaEpoch(epoch);
            FetchRequest late = new FetchRequest(data, delayed.version());
            step("P2's fetch arrives" + (epoch < 0 ? "" : ", for comparison with the broker epoch of P1") + ": "
                    + error(leader.serve(late)));
            detail("A knows LEO " + leader.remoteLeo(B) + " of B, and proposes " + proposed());
        }
    }

    /**
     * Sends the proposal to the controller, first with P1's broker epoch for comparison. Returns whether the controller
     * accepts the broker epoch -1.
     */
    private boolean accepts(Proposal proposal, long epochOfP1) {
        AlterPartitionRequestData request = (AlterPartitionRequestData) proposal.request();
        AlterPartitionRequestData compared = request.duplicate();
        compared.topics().get(0).partitions().get(0).newIsrWithEpochs().stream()
                .filter(member -> member.brokerId() == B).forEach(member -> member.setBrokerEpoch(epochOfP1));
        step("AlterPartition, for comparison with P1's broker epoch " + epochOfP1 + ": " + controller.alter(compared));
        Errors error = controller.alter(request);
        step("AlterPartition, with the broker epoch " + proposal.brokerEpochs().get(B) + ": " + error);
        detail(state());
        return error == Errors.NONE && proposal.brokerEpochs().get(B) == -1;
    }

    private int fail(BrokerProcess third) {
        leader.abandon();
        endSession(B);
        third.catchUp(controller.log());
        step("A loses power before P3 has a record, and A's session ends: " + state());
        long leo = third.replica().leo();
        detail("P3 leads: LEO " + leo);
        register(A);
        BrokerProcess follower = start(
                A, controller.broker(A).epoch(), leader.disk().copyTo(directory.resolve("A2")));
        third.catchUp(controller.log());
        replicate(follower, third, "A");
        step("A returns with its log, and follows P3: LEO " + follower.replica().leo());
        say((leo == 0 ? "LOST: " : "KEPT: ") + (RECORDS - leo) + " of " + RECORDS + " acknowledged records");
        return leo == 0 ? LOST : KEPT;
    }

    private int kept(String reason) {
        say("KEPT: " + reason);
        return KEPT;
    }

    /** Registers a new process, and unfences it. */
    private void register(int broker) {
        controller.register(ClusterControl.registration(broker));
        controller.heartbeat(broker);
    }

    /** Lets the session timeout pass while only one broker sends heartbeats, and fences the other. */
    private void endSession(int survivor) {
        for (int part = 0; part < 2; part++) {
            time.advance(PART_OF_SESSION_MS);
            controller.heartbeat(survivor);
        }
        controller.fenceStale();
    }

    private BrokerProcess start(int broker, long brokerEpoch, Disk disk) {
        BrokerProcess started = new BrokerProcess(broker, brokerEpoch, release, disk, time);
        started.catchUp(controller.log());
        return started;
    }

    private Disk directory(String name) throws IOException {
        return new Disk(Files.createDirectory(directory.resolve(name)));
    }

    /** Runs one pass of a fetcher thread. Returns whether the thread sends a fetch. */
    private boolean replicate(BrokerProcess follower, BrokerProcess from, String name) {
        Optional<FetchRequest> fetch = follower.fetch(from);
        fetch.ifPresent(request -> {
            Answer answer = from.serve(request);
            follower.receive(from, answer);
            detail(name + " sends a " + described(request) + ": " + error(answer) + ", then has LEO "
                    + follower.replica().leo());
        });
        return fetch.isPresent();
    }

    private static String described(FetchRequest fetch) {
        return "fetch v" + fetch.version() + " from offset "
                + fetch.data().topics().get(0).partitions().get(0).fetchOffset() + " with the broker epoch "
                + fetch.replicaEpoch();
    }

    private static Errors error(Answer answer) {
        FetchResponse response = (FetchResponse) answer.response();
        return Errors.forCode(response.data().responses().get(0).partitions().get(0).errorCode());
    }

    private String proposed() {
        return leader.proposal().map(proposal -> "the ISR " + new TreeMap<>(proposal.brokerEpochs()).entrySet().stream()
                .map(member -> name(member.getKey()) + "@" + member.getValue()).collect(Collectors.joining(", ")))
                .orElse("nothing");
    }

    private String state() {
        PartitionRegistration partition = controller.partition();
        String isr = IntStream.of(partition.isr).mapToObj(FetchBeforeRegistration::name)
                .collect(Collectors.joining(", "));
        return name(partition.leader) + " leads epoch " + partition.leaderEpoch + ", ISR " + isr + ", partition epoch "
                + partition.partitionEpoch + "; registered: "
                + Stream.of(A, B).map(controller::broker).map(this::described).collect(Collectors.joining(", "));
    }

    private String described(BrokerRegistration broker) {
        return name(broker.id()) + "@" + broker.epoch() + (broker.fenced() ? " fenced" : "");
    }

    private static String name(int broker) {
        return broker == A ? "A" : "B";
    }

    private void step(String text) {
        steps++;
        say(String.format("%2d  %s", steps, text));
    }

    private static void detail(String text) {
        say("    " + text);
    }

    private static void say(String text) {
        System.out.println(text);
    }
}
