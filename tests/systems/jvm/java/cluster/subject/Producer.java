package subject;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An idempotent producer with acks=all. It sends an unacknowledged record again, to any broker, because its metadata may
 * be outdated. Kafka's code in the brokers accepts or rejects the record.
 *
 * <p>At most two records wait for responses (max.in.flight.requests.per.connection=2). Only the response to the last
 * request for a record counts.
 */
final class Producer {
    private static final int MOST_IN_FLIGHT = 2;
    private static final int NONE = -1;

    private final Map<Integer, Request> last = new TreeMap<>();  // the last request for each record
    private int produced;
    private int epoch;
    private int first;  // the record with sequence number 0 in this epoch

    /** Sends the next record. Returns false if the producer waits for an earlier record, or the broker rejects it. */
    boolean sendNext(Broker broker) {
        int leaves = produced - MOST_IN_FLIGHT;
        boolean hasRoom = leaves < 0 || isAcknowledged(leaves);
        boolean sent = hasRoom && send(broker, produced);
        produced += sent ? 1 : 0;
        return sent;
    }

    /** Sends the oldest unacknowledged record again. */
    boolean sendAgain(Broker broker) {
        int record = oldestUnacknowledged();
        return record != NONE && send(broker, record);
    }

    /**
     * Begins a new producer epoch if the broker rejects the record after the last acknowledged one as out of sequence
     * (KIP-360, TransactionManager.canRetry). The producer sends any other record again in the same epoch. As in the
     * model, a run has at most one new epoch.
     */
    boolean beginEpoch(Broker broker) {
        int record = oldestUnacknowledged();
        if (epoch > 0 || record == NONE || isAcknowledged(record + 1) || !isOutOfSequence(broker, record)) {
            return false;
        }
        epoch++;
        first = record;
        return true;
    }

    Set<Integer> acknowledged() {
        return records(request -> request.reply == Reply.STORED);
    }

    /** Returns the records whose last requests wait at a broker. */
    Set<Integer> waitingAt(Broker broker) {
        return records(request -> request.broker == broker && request.reply == null);
    }

    private Set<Integer> records(Predicate<Request> chosen) {
        return last.keySet().stream().filter(record -> chosen.test(last.get(record))).collect(Collectors.toSet());
    }

    private boolean send(Broker broker, int record) {
        Request request = new Request(broker);
        boolean accepted = broker.append(numbered(record), request);
        if (accepted) {
            last.put(record, request);
        }
        return accepted;
    }

    /** Asks the log first, because a broker that accepts the record also appends it. */
    private boolean isOutOfSequence(Broker broker, int record) {
        if (!broker.rejects(numbered(record))) {
            return false;
        }
        Request request = new Request(broker);
        broker.append(numbered(record), request);
        return request.reply == Reply.OUT_OF_SEQUENCE;
    }

    private Sent numbered(int record) {
        return new Sent(record, epoch, record - first);
    }

    private int oldestUnacknowledged() {
        return IntStream.range(Math.max(0, produced - MOST_IN_FLIGHT), produced)
                .filter(record -> !isAcknowledged(record)).findFirst().orElse(NONE);
    }

    private boolean isAcknowledged(int record) {
        return last.containsKey(record) && last.get(record).reply == Reply.STORED;
    }

    /** A request that a broker has received, and the broker's response, if there is one. */
    private static final class Request implements Consumer<Reply> {
        final Broker broker;
        Reply reply;

        Request(Broker broker) {
            this.broker = broker;
        }

        @Override public void accept(Reply given) {
            reply = given;
        }
    }
}
