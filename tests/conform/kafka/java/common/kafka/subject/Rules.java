package subject;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the controller does, which is ours here, and what the harness assumes of followers. Each release has its own; a
 * protocol's text can replace it, as in {@code kafka-2.8.1:registration=resume}.
 *
 * @param obeysLeaderless leaderless: whether brokers act on a decision that names no leader, or ignore it (ZooKeeper)
 * @param fencesExpired whether a broker whose session is over is fenced until it is heard from again (KRaft)
 * @param fencesRegistration registration: whether a broker that returns before anybody noticed is failed first (KIP-380)
 * @param bumpsEpochOnFence follower_fence_epoch: whether a member of the ISR that is taken out of it makes a new epoch
 * @param dropsDeadOnFailOver whether electing for a leader that is gone takes dead members out of the ISR (ZooKeeper)
 * @param looksAtFollower whether a replica joins the ISR only while it fetches from the leader: as long as leaders do
 *     not refuse who fetches at another epoch
 * @param awaitsLateAnswers late_answer: whether, in the protocol's words, an answer is still in flight when a decision has
 *     made its follower fetch anew. It only says how events are called: every answer reaches Kafka's code
 * @param cutsWhateverIs late_answer: whether a decision comes when the fetcher thread has taken an answer that tells of a
 *     divergence, and has let go of its lock before it cuts the log (KAFKA-13207); else the answer has not arrived by then
 * @param cutsUnasked whether a fetcher thread cuts the log, and asks nobody, in its next pass after a decision
 * @param changesIsrAtOnce isr_change: whether a change of the ISR is one event, or a request, a decision and an answer
 * @param forgetsRequests isr_queue: whether a leader that has learned a decision may propose again although a request of
 *     its is under way (KAFKA-12686)
 * @param refusesForGood stale_controller: whether a leader takes the answer of a former controller for final (KAFKA-14154)
 * @param answersDuplicates isr_duplicate: whether a request that asks for what is already so succeeds (ZooKeeper)
 * @param tracksEligibleLeaders eligible_leaders: whether the cluster has that feature (KIP-966)
 * @param eligibility isr_eligibility: what the controller asks of a replica that a leader wants in the ISR
 */
record Rules(
        boolean obeysLeaderless,
        boolean fencesExpired,
        boolean fencesRegistration,
        boolean bumpsEpochOnFence,
        boolean dropsDeadOnFailOver,
        boolean looksAtFollower,
        boolean awaitsLateAnswers,
        boolean cutsWhateverIs,
        boolean cutsUnasked,
        boolean changesIsrAtOnce,
        boolean forgetsRequests,
        boolean refusesForGood,
        boolean answersDuplicates,
        boolean tracksEligibleLeaders,
        Eligibility eligibility) {

    private static final String RELEASE = "kafka-";
    private static final List<String> GENERATIONS = List.of("hw", "kip-101", "kip-279", "kip-320", "kip-497", "kip-595",
            "kip-841", "kip-903", "min-isr-gate", "kip-966");

    /** Who may join the ISR: anybody, who is registered (KIP-841), or who has fetched since it registered (KIP-903). */
    enum Eligibility { UNCHECKED, ALIVE, INCARNATION }

    static Rules of(Release release, String protocol) {
        Map<String, String> chosen = choices(protocol);
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
                chosen.getOrDefault("stale_controller", "retried").equals("final"),
                !raft,
                release.isAtLeast("4.0")
                        && !chosen.getOrDefault("eligible_leaders", has(protocol, "kip-966", "4.1") ? "tracked" : "none")
                                .equals("none"),
                Eligibility.valueOf(chosen.getOrDefault("isr_eligibility", eligibility(release)).toUpperCase()));
    }

    /** Up to 2.0.1, and with truncation on fetch until KAFKA-18991, no epochs were compared; in all generations they are. */
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
                || release.isAtLeast("2.1") && !release.isAtLeast("2.8");
        return compares ? "same_epoch" : "same_leader";
    }

    private static String eligibility(Release release) {
        return !release.isAtLeast("3.3") ? "unchecked" : release.isAtLeast("3.5") ? "incarnation" : "alive";
    }

    /** Whether a protocol, such as kip-497 or kafka-2.8.1, has what a generation has brought, and Kafka since a release. */
    private static boolean has(String protocol, String generation, String since) {
        String name = protocol.split(":", 2)[0];
        return name.startsWith(RELEASE) ? Release.of(name.substring(RELEASE.length())).isAtLeast(since)
                : GENERATIONS.indexOf(name) >= GENERATIONS.indexOf(generation);
    }

    /** {@code name:mechanism=choice,...} */
    private static Map<String, String> choices(String protocol) {
        Map<String, String> choices = new HashMap<>();
        String[] parts = protocol.split(":", 2);
        if (parts.length == 2) {
            for (String part : parts[1].split(",")) {
                String[] words = part.split("=", 2);
                choices.put(words[0].strip(), words.length == 2 ? words[1].strip() : "");
            }
        }
        return choices;
    }
}
