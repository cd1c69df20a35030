package subject;

import java.util.HashMap;
import java.util.Map;

/**
 * What the controller does, which is ours here, and what the harness assumes of followers. Each release has its own; a
 * protocol's text can replace it, as in {@code kafka-2.8.1:registration=resume}.
 *
 * @param obeysLeaderless leaderless: whether brokers act on a decision that names no leader, or ignore it (ZooKeeper)
 * @param fencesRegistration registration: whether a broker that returns before anybody noticed is failed first (KIP-380)
 * @param bumpsEpochOnFence follower_fence_epoch: whether a member of the ISR that is taken out of it makes a new epoch
 * @param dropsDeadOnFailOver whether electing for a leader that is gone takes dead members out of the ISR (ZooKeeper)
 * @param looksAtFollower whether a replica joins the ISR only while it fetches from the leader: as long as leaders do
 *     not refuse who fetches at another epoch
 * @param keepsLateAnswers late_answer: whether an answer in flight may outlive a decision; otherwise it is lost by it,
 *     to the same effect, for what the release does with it is nothing
 * @param changesIsrAtOnce isr_change: whether a change of the ISR is one event, or a request, a decision and an answer
 * @param answersDuplicates isr_duplicate: whether a request that asks for what is already so succeeds (ZooKeeper)
 * @param eligibility isr_eligibility: what the controller asks of a replica that a leader wants in the ISR
 */
record Rules(
        boolean obeysLeaderless,
        boolean fencesRegistration,
        boolean bumpsEpochOnFence,
        boolean dropsDeadOnFailOver,
        boolean looksAtFollower,
        boolean keepsLateAnswers,
        boolean changesIsrAtOnce,
        boolean answersDuplicates,
        Eligibility eligibility) {

    /** Who may join the ISR: anybody, who is registered (KIP-841), or who has fetched since it registered (KIP-903). */
    enum Eligibility { UNCHECKED, ALIVE, INCARNATION }

    static Rules of(Release release, String protocol) {
        Map<String, String> chosen = choices(protocol);
        boolean raft = release.isRaft();
        boolean fences = release.speaks("2.1");
        return new Rules(
                raft,
                chosen.getOrDefault("registration", release.isAtLeast("2.2") ? "fenced" : "resume").equals("fenced"),
                chosen.getOrDefault("follower_fence_epoch", raft && release.isAtLeast("3.6") ? "kept" : "bumped")
                        .equals("bumped"),
                !raft,
                chosen.getOrDefault("fencing", fences ? "epoch" : "none").equals("none"),
                !chosen.getOrDefault("late_answer", comparesEpochs(release) ? "same_epoch" : "same_leader")
                        .equals("same_epoch"),
                !chosen.getOrDefault("isr_change", "atomic").equals("request"),
                !raft,
                Eligibility.valueOf(chosen.getOrDefault("isr_eligibility", eligibility(release)).toUpperCase()));
    }

    /**
     * Whether a follower drops an answer to a request of another epoch: since KAFKA-18991, and while it had a phase of
     * its own for truncation.
     */
    private static boolean comparesEpochs(Release release) {
        boolean truncatesOnFetch = release.speaks("2.7") && release.isAtLeast("2.8");
        boolean repaired = release.isAtLeast("4.0")
                ? release.isAtLeast("4.0.1") : release.isAtLeast("3.9.1");
        return !truncatesOnFetch || repaired;
    }

    private static String eligibility(Release release) {
        return !release.isAtLeast("3.3") ? "unchecked" : release.isAtLeast("3.5") ? "incarnation" : "alive";
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
