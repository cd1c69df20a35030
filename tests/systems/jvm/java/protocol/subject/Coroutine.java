package subject;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;

/**
 * A task that is suspended while it waits for the reply to a question.
 *
 * <p>Each coroutine has its own thread, which runs only while the owner waits in {@link #start} or {@link #resume}. So
 * only one thread runs at any time, and a test with any number of coroutines is deterministic.
 */
final class Coroutine {
    private static final Object END = new Object();
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "fetcher");
        thread.setDaemon(true);
        return thread;
    });

    private final SynchronousQueue<Object> questions = new SynchronousQueue<>();
    private final SynchronousQueue<Object> answers = new SynchronousQueue<>();
    private Throwable failure;

    /**
     * Runs the work until it asks a question, and returns the question; null if the work has ended. Throws every
     * exception that the work throws.
     */
    Object start(Runnable work) {
        THREADS.execute(() -> {
            try {
                work.run();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            put(questions, END);
        });
        return next();
    }

    /** Replies to the question. Returns the next question, or null if the work has ended. */
    Object resume(Object answer) {
        put(answers, answer);
        return next();
    }

    /** Asks a question, and returns the reply. The work calls this on its own thread. */
    Object ask(Object question) {
        put(questions, question);
        return take(answers);
    }

    private Object next() {
        Object question = take(questions);
        if (question != END) {
            return question;
        }
        if (failure != null) {
            throw Coroutine.<RuntimeException>unchecked(failure);
        }
        return null;
    }

    private static void put(SynchronousQueue<Object> queue, Object item) {
        try {
            queue.put(item);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException("this thread must not be interrupted", interrupted);
        }
    }

    private static Object take(SynchronousQueue<Object> queue) {
        try {
            return queue.take();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException("this thread must not be interrupted", interrupted);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable failure) throws T {
        throw (T) failure;
    }
}
