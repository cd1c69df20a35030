package subject;

import org.apache.rocketmq.store.ha.io.AbstractHAReader;

/**
 * The progress of a RocketMQ thread that reads from a connection. The thread handles the bytes that it has read, and
 * reads again until there are no more. So the thread has handled everything that was sent if it has read all of it and
 * its next read has found nothing.
 */
final class Reading {
    private long read;
    private boolean foundNothing;

    Reading(AbstractHAReader reader) {
        reader.registerHook(this::note);
    }

    private synchronized void note(int size) {
        read += Math.max(0, size);
        foundNothing = size <= 0;
    }

    synchronized long bytes() {
        return read;
    }

    synchronized boolean hasHandled(long sent) {
        return read >= sent && foundNothing;
    }
}
