package subject;

import java.util.ArrayList;
import java.util.List;

/** The values since the last report. The producer's thread adds values too. */
final class News {
    /** The report of an order. */
    record Report(List<String> acked, List<String> failed, List<String> read) {
        Report() {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    private Report report = new Report();

    synchronized void sent(String value, Exception failure) {
        (failure == null ? report.acked : report.failed).add(value);
    }

    synchronized void read(String value) {
        report.read.add(value);
    }

    synchronized Report take() {
        Report taken = report;
        report = new Report();
        return taken;
    }
}
