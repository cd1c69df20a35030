package subject;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;

/** Keeps what waits in a purgatory until it is told that the time is over. */
final class FakeTimer implements Timer {
    private List<TimerTask> waiting = new ArrayList<>();

    @Override public void add(TimerTask task) {
        waiting.add(task);
    }

    void expireAll() {
        List<TimerTask> expired = waiting;
        waiting = new ArrayList<>();
        expired.forEach(TimerTask::run);
    }

    @Override public boolean advanceClock(long timeoutMs) {
        return false;
    }

    @Override public int size() {
        return waiting.size();
    }

    @Override public void close() { }
}
