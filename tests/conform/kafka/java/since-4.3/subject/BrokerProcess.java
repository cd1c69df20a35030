package subject;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.requests.FetchRequest;

/** A process of a broker, with its replica, its position in the metadata log, and the ISR changes that it proposes. */
final class BrokerProcess {
    private static final Settings SETTINGS = new Settings(
            2, "all", 1, false, false, 8, false, false, false, false, false, false);

    private final int id;
    private final Disk disk;
    private final KafkaBroker broker;
    private final List<Proposal> proposals = new ArrayList<>();
    private int learned;

    /** Starts a process that has the same broker epoch for its whole life. */
    BrokerProcess(int id, long brokerEpoch, Release release, Disk disk, FakeTime time) {
        this.id = id;
        this.disk = disk;
        broker = new KafkaBroker(host(
                id, brokerEpoch, release, disk, time, (leader, proposal) -> proposals.add(proposal)));
    }

    static Host host(int id, long brokerEpoch, Release release, Disk disk, FakeTime time, Gate gate) {
        long[] epochs = new long[SETTINGS.replicas()];
        Arrays.fill(epochs, -1);
        epochs[id] = brokerEpoch;
        return new Host(id, release, SETTINGS, disk, time, gate, false, epochs);
    }

    Disk disk() {
        return disk;
    }

    Replica replica() {
        return broker.replica();
    }

    /** Applies the rest of the metadata log, as BrokerMetadataPublisher does. */
    void catchUp(List<Object> log) {
        broker.learn(null, List.copyOf(log.subList(learned, log.size())));
        learned = log.size();
        broker.finishScheduled();  // writes partition.metadata, as Kafka's background thread does
    }

    void append(int record) {
        if (!broker.append(record, true)) {
            throw new IllegalStateException("the leader does not acknowledge a record");
        }
    }

    /** Runs the fetcher thread up to its next fetch. Returns the fetch; empty if the thread has nothing to fetch. */
    Optional<FetchRequest> fetch(BrokerProcess leader) {
        Fetcher thread = broker.fetcher(leader.id);
        return thread == null ? Optional.empty() : thread.ask().map(FetchRequest.class::cast);
    }

    /** Passes the response to {@link #fetch} to the fetcher thread. */
    void receive(BrokerProcess leader, Answer answer) {
        broker.fetcher(leader.id).receive(answer);
    }

    /** Serves a fetch, which does not wait for records. Returns the response. */
    Answer serve(FetchRequest request) {
        Answer[] answers = new Answer[1];
        Runnable end = broker.serve(request, answer -> answers[0] = answer);
        if (answers[0] == null) {
            end.run();
        }
        return answers[0];
    }

    /** Returns the log end offset of a follower, as this leader knows it. */
    long remoteLeo(int follower) {
        return broker.remoteLeo(follower);
    }

    /** Returns the first ISR change that this leader has proposed. */
    Optional<Proposal> proposal() {
        return proposals.stream().findFirst();
    }

    void abandon() {
        broker.abandon();
    }
}
