package subject;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A replica and its broker, which may be down. */
final class Node {
    final int id;
    final FakeTime time;
    Disk disk;
    Broker broker;  // null while the broker is down
    boolean isUnregistered;  // whether the broker is up but the controller knows only its former process
    boolean isCatchingUp;  // whether it has registered and has learned no decision since
    int next;  // the first epoch whose decision it has not learned
    // position counts the metadata records that it has learned; noted counts registrations, which arrive at once
    int position;
    int noted;
    List<Long> registrations = List.of();  // the registrations of all brokers at the time of its last update
    int version = -1;  // of the last decision that it learned; -1 after a start
    int answered = -1;  // the version in the last response to its own ISR change
    Fetcher asked;  // the fetcher that waits for the response, if there is one
    Answer answer;
    Wait wait;  // its fetch waits at the leader, because it found no records
    boolean holdsAnswer;  // whether the fetcher thread has the response and has released its lock
    // the followers that have fetched from this leader in its present epoch
    final Set<Integer> heard = new HashSet<>();
    long flushed;  // the records below this offset survive a loss of power
    long checkpointed;  // the high watermark in the checkpoint file
    Replica seen;

    Node(int id, FakeTime time) {
        this.id = id;
        this.time = time;
    }

    /** Returns the version of the partition's state that it knows. */
    int version() {
        return Math.max(version, answered);
    }

    boolean isUp() {
        return broker != null;
    }

    boolean isRegistered() {
        return isUp() && !isUnregistered;
    }

    /** Updates {@code seen}: from the running broker, or from the disk if the broker is down. */
    void look() {
        seen = isUp() ? broker.replica() : disk.replica();
        flushed = Math.min(flushed, seen.leo());
    }

    long logStart() {
        return isUp() ? broker.logStart() : disk.logStart();
    }

    /** Returns whether it has sent a request to this leader and has not received the response. */
    boolean waitsFor(Node leader) {
        return (answer != null || wait != null) && asked.leader() == leader.id;
    }

    /** Returns whether its fetch waits in this leader's purgatory. */
    boolean waitsAt(Node leader) {
        return wait != null && wait.leader() == leader;
    }

    /** Discards the request or response that is in flight. */
    void discardAnswer() {
        if (asked != null) {
            asked.giveUp();
        }
        forgetAnswer();
    }

    void forgetAnswer() {
        asked = null;
        answer = null;
        wait = null;
        holdsAnswer = false;
    }
}
