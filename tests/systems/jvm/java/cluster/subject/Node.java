package subject;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A replica, whether its broker is up or down. */
final class Node {
    final int id;
    final FakeTime time;
    Disk disk;
    Broker broker;  // null while it is down
    boolean isUnregistered;  // whether it runs, and the controller knows only the process before
    boolean isCatchingUp;  // whether it is registered, and has learned nothing since
    int next;  // of the controller's decisions, the first that it has not learned
    int position;  // in the metadata log, and of what is no part of it for being noted at once
    int noted;
    List<Long> registrations = List.of();  // of all brokers, as the controller had them when it learned last
    int version = -1;  // of the partition's state that it was told of; -1 if it has just started
    int answered = -1;  // and that it got in answer to a change of the ISR, as a leader
    Fetcher asked;  // the fetcher that waits for the response in flight, if there is one
    Answer answer;
    Wait wait;  // in place of an answer: its fetch has found no records
    boolean holdsAnswer;  // whether that fetcher has it, and has let go of its lock
    final Set<Integer> heard = new HashSet<>();  // as a leader: the followers that have fetched from it in its present epoch
    long flushed;  // offsets below this survive the loss of power
    long checkpointed;  // the high watermark on disk
    Replica seen;

    Node(int id, FakeTime time) {
        this.id = id;
        this.time = time;
    }

    /** The version of the partition's state that it knows. */
    int version() {
        return Math.max(version, answered);
    }

    boolean isUp() {
        return broker != null;
    }

    boolean isRegistered() {
        return isUp() && !isUnregistered;
    }

    /** Looks at the replica; on disk, if there is no process to ask. */
    void look() {
        seen = isUp() ? broker.replica() : disk.replica();
        flushed = Math.min(flushed, seen.leo());
    }

    long logStart() {
        return isUp() ? broker.logStart() : disk.logStart();
    }

    /** Whether it has asked a leader, and has not got the answer. */
    boolean waitsFor(Node leader) {
        return (answer != null || wait != null) && asked.leader() == leader.id;
    }

    /** Whether a leader has a fetch of it in its purgatory. */
    boolean waitsAt(Node leader) {
        return wait != null && wait.leader() == leader;
    }

    /** Nothing is in flight any more. */
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
