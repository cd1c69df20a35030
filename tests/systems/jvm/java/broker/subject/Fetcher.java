package subject;

import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A follower's fetcher thread for one leader. The adapter runs one pass of its doWork() at a time.
 *
 * <p>Kafka's thread builds a request, waits for the leader, and processes the response. It changes the replica only
 * while it processes the response. So the adapter suspends a pass where the thread waits: {@link #ask} is the first
 * half of a pass, and {@link #receive} is the second half. If something happens to the follower in between, Kafka's own
 * code for late responses handles it.
 *
 * <p>The adapter can also suspend a thread where it releases its lock while it processes the response: see
 * {@link #receiveUpToUnlock}.
 *
 * <p>A pass sends one request to its leader. Every further request in the same pass gets an empty response, which names
 * no partition and has no effect in any release. ListOffsets is the exception, because it is part of processing a
 * response.
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

    /**
     * @param empty makes an empty response to a request
     * @param asksForOffsets returns whether a request is a ListOffsets request
     */
    Fetcher(int leader, UnaryOperator<Object> empty, Predicate<Object> asksForOffsets) {
        this.leader = leader;
        this.empty = empty;
        this.asksForOffsets = asksForOffsets;
    }

    int leader() {
        return leader;
    }

    /**
     * Sets the thread's doWork(), and a supplier of the thread's fetch state of the partition (null if it has none).
     */
    void works(Runnable thread, Supplier<?> state) {
        doWork = thread;
        fetchState = state;
    }

    boolean isWaiting() {
        return pass != null;
    }

    /** Returns whether the partition was removed from the thread since its request. It may have been added again. */
    boolean hasRestarted() {
        return fetchState.get() != askedIn;
    }

    /** Runs the first half of a pass. Returns the request, if the thread sends one. */
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

    /** Runs the second half of the pass, or the rest of it. Does nothing if no pass is suspended. */
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
     * Runs the second half up to the thread's call of {@link #unlocked}. {@link #receive} runs the rest. The pass ends
     * if the thread ignores the response and never calls {@link #unlocked}.
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

    /** The thread calls this where it has released its lock. Returns false if the response was discarded meanwhile. */
    boolean unlocked() {
        return !pauses || pass.ask(UNLOCKED) != NONE.response();
    }

    /** Ends the pass without a response. */
    void giveUp() {
        receive(NONE);
    }

    /** Runs a whole pass without a leader, for the steps that the thread takes without a request. */
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
     * Runs adapter code that Kafka's code calls. Kafka's code catches every exception, so this method keeps an
     * exception, and the end of the pass throws it again.
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

    /** Sends a request to the leader. Kafka's code calls this on the thread of the pass. */
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
            throw new IllegalStateException("no response led to this ListOffsets request: " + request);
        }
        return answer.offsets().apply(request);
    }
}
