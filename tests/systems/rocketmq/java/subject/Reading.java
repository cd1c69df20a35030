package subject;

import org.apache.rocketmq.store.ha.io.AbstractHAReader;

/**
 * How far a thread of RocketMQ's has come with what it reads from a connection. It handles what it has read before it reads
 * again, and looks again until nothing is there: so if it has read all that was sent and then nothing, it has handled it.
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
