package subject;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;

/**
 * Work that is suspended where it asks for something, and goes on when it is answered.
 *
 * <p>It has a thread of its own, which runs only while the owner waits for it in {@link #start} or {@link #resume}. So
 * there is never more than one that runs, and a test with any number of coroutines is deterministic.
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

    /** Runs the work until it asks; null if it ended without. Whatever the work throws is thrown here. */
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

    /** Answers what was asked. */
    Object resume(Object answer) {
        put(answers, answer);
        return next();
    }

    /** Called by the work, on its own thread. */
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
            throw new IllegalStateException("nobody interrupts here", interrupted);
        }
    }

    private static Object take(SynchronousQueue<Object> queue) {
        try {
            return queue.take();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException("nobody interrupts here", interrupted);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable failure) throws T {
        throw (T) failure;
    }
}
