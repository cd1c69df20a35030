package subject;

import java.util.List;
import java.util.Map;

/** The rules of a Kafka release, or of a reference design. */
final class KafkaRules {
    private static final String RELEASE = "kafka-";
    private static final List<String> GENERATIONS = List.of("hw", "kip-101", "kip-279", "kip-320", "kip-497", "kip-595",
            "kip-841", "kip-903", "min-isr-gate", "kip-966");

    private KafkaRules() { }

    static Rules of(Release release, String protocol) {
        Map<String, String> chosen = Rules.choices(protocol);
        boolean raft = release.isRaft();
        boolean fences = release.speaks("2.1");
        String late = chosen.getOrDefault("late_answer", lateAnswer(protocol));
        return new Rules(
                raft,
                raft && has(protocol, "kip-841", "3.3"),
                chosen.getOrDefault("registration", release.isAtLeast("2.2") ? "fenced" : "resume").equals("fenced"),
                chosen.getOrDefault("follower_fence_epoch", raft && release.isAtLeast("3.6") ? "kept" : "bumped")
                        .equals("bumped"),
                !raft,
                chosen.getOrDefault("fencing", fences ? "epoch" : "none").equals("none"),
                !late.equals("same_epoch"),
                late.equals("diverging_any"),
                release.isAtLeast("1.1") && !release.speaks("0.11"),
                chosen.getOrDefault("isr_change", has(protocol, "kip-497", "2.7") ? "request" : "atomic").equals("atomic"),
                chosen.getOrDefault("isr_queue", release.isAtLeast("3.0") ? "single" : "cleared_by_news")
                        .equals("cleared_by_news"),
                failure(chosen, release, raft),
                !raft,
                release.isAtLeast("4.0")
                        && !chosen.getOrDefault("eligible_leaders", has(protocol, "kip-966", "4.1") ? "tracked" : "none")
                                .equals("none"),
                Rules.Eligibility.valueOf(chosen.getOrDefault("isr_eligibility", eligibility(release)).toUpperCase()));
    }

    /**
     * Returns the choice of the mechanism late_answer. A follower did not compare leader epochs up to 2.1.0
     * (KAFKA-7786), nor with truncation on fetch until KAFKA-18991. In all reference designs it does.
     */
    private static String lateAnswer(String protocol) {
        String name = protocol.split(":", 2)[0];
        if (!name.startsWith(RELEASE)) {
            return "same_epoch";
        }
        Release release = Release.of(name.substring(RELEASE.length()));
        if (release.version().equals("2.8.0")) {
            return "diverging_any";
        }
        boolean compares = release.isAtLeast("4.0") ? !release.version().equals("4.0.0")
                : release.isAtLeast("3.9.1") || release.version().equals("3.9")
                || release.isAtLeast("2.1.1") && !release.isAtLeast("2.8");
        return compares ? "same_epoch" : "same_leader";
    }

    private static Rules.Failure failure(Map<String, String> chosen, Release release, boolean raft) {
        if (chosen.getOrDefault("stale_controller", "retried").equals("final")) {
            return Rules.Failure.REFUSAL;
        }
        String isrError = release.isAtLeast("3.2.1") || raft ? "retried" : release.isAtLeast("3.1") ? "taken_back" : "stuck";
        return chosen.getOrDefault("isr_error", isrError).equals("retried") ? Rules.Failure.NONE : Rules.Failure.ERROR;
    }

    private static String eligibility(Release release) {
        return !release.isAtLeast("3.3") ? "unchecked" : release.isAtLeast("3.5") ? "incarnation" : "alive";
    }

    /**
     * Returns whether a protocol has a feature. A reference design, such as kip-497, has it from {@code generation} on.
     * A Kafka release, such as kafka-2.8.1, has it from {@code since} on.
     */
    private static boolean has(String protocol, String generation, String since) {
        String name = protocol.split(":", 2)[0];
        return name.startsWith(RELEASE) ? Release.of(name.substring(RELEASE.length())).isAtLeast(since)
                : GENERATIONS.indexOf(name) >= GENERATIONS.indexOf(generation);
    }
}
