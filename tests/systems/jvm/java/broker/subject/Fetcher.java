package subject;

import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A follower's fetcher thread towards one leader, run one pass of its doWork() at a time.
 *
 * <p>Kafka's thread builds a request, waits for the leader, and processes the answer; nothing changes but in the
 * processing. So a pass is suspended where the thread waits: {@link #ask} is the first half, {@link #receive} the
 * second. Whatever happens to the follower in between meets Kafka's own code for answers that come late.
 *
 * <p>A thread that lets go of its lock in the processing can be suspended there as well: {@link #receiveUpToUnlock}.
 *
 * <p>A pass asks its leader once. What it asks after that gets an empty answer, in which no partition is mentioned, and
 * which has no effect on any release. The exception is ListOffsets, which is part of the processing of an answer.
 */
final class Fetcher {
    private static final Answer NONE = new Answer(new Object(), null);
    private static final Object UNLOCKED = new Object();

    private final int leader;
    private final UnaryOperator<Object> empty;
    private final Predicate<Object> asksForOffsets;
    private Runnable doWork;
    private Supplier<?> fetchState;
    private Object askedIn;
    private Coroutine pass;
    private boolean silent;
    private boolean pauses;
    private RuntimeException broken;
    private Answer answer;

    /** {@code empty} makes an empty answer to a request; {@code asksForOffsets} tells ListOffsets requests. */
    Fetcher(int leader, UnaryOperator<Object> empty, Predicate<Object> asksForOffsets) {
        this.leader = leader;
        this.empty = empty;
        this.asksForOffsets = asksForOffsets;
    }

    int leader() {
        return leader;
    }

    /** The thread's doWork(), and what it has noted of the partition, null for nothing. */
    void works(Runnable thread, Supplier<?> state) {
        doWork = thread;
        fetchState = state;
    }

    boolean isWaiting() {
        return pass != null;
    }

    /** Whether the partition was taken from the thread since it asked, and maybe given to it again. */
    boolean hasRestarted() {
        return fetchState.get() != askedIn;
    }

    /** The first half of a pass: the request, if there is one. */
    Optional<Object> ask() {
        pass = new Coroutine();
        answer = null;
        Object request = pass.start(doWork);
        askedIn = fetchState.get();
        if (request == null) {
            pass = null;
        }
        check();
        return Optional.ofNullable(request);
    }

    /** The second half, or what is left of it, if anything. */
    void receive(Answer arrived) {
        if (pass == null) {
            return;
        }
        answer = arrived;
        try {
            pass.resume(arrived.response());
        } finally {
            pass = null;
        }
        check();
    }

    /**
     * The second half, up to where the thread calls {@link #unlocked}; {@link #receive} does the rest. A thread that can
     * make nothing of the answer does not get there.
     */
    void receiveUpToUnlock(Answer arrived) {
        answer = arrived;
        pauses = true;
        try {
            pass = pass.resume(arrived.response()) == UNLOCKED ? pass : null;
        } finally {
            pauses = false;
        }
        check();
    }

    /** Called by the thread where it has let go of its lock. False: nothing comes of the answer any more. */
    boolean unlocked() {
        return !pauses || pass.ask(UNLOCKED) != NONE.response();
    }

    /** The second half of a pass that nobody answers. */
    void giveUp() {
        receive(NONE);
    }

    /** A whole pass in which nobody answers, for what the thread does without asking. */
    void passSilently() {
        silent = true;
        try {
            doWork.run();
        } finally {
            silent = false;
        }
        check();
    }

    /**
     * Work of ours that Kafka's code calls. Its failures are ours too, and thrown where a pass ends, for Kafka's code
     * catches whatever it meets.
     */
    <T> T guarded(Supplier<T> work) {
        try {
            return work.get();
        } catch (RuntimeException failure) {
            broken = failure;
            throw failure;
        }
    }

    private void check() {
        if (broken != null) {
            throw new IllegalStateException("the adapter failed in a fetcher thread", broken);
        }
    }

    /** Called by Kafka's code, on the thread of the pass, to ask the leader. */
    Object send(Object request) {
        if (asksForOffsets.test(request)) {
            return offsets(request);
        }
        if (silent || answer != null || pass == null) {
            return empty.apply(request);
        }
        Object response = pass.ask(request);
        return response == NONE.response() ? empty.apply(request) : response;
    }

    private Object offsets(Object request) {
        if (answer == null || answer.offsets() == null) {
            throw new IllegalStateException("offsets were asked for that no answer can have led to: " + request);
        }
        return answer.offsets().apply(request);
    }
}
