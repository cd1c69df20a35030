package subject;

import java.util.HashMap;
import java.util.Map;

/**
 * What the controller does, which is ours here, and what the harness assumes of followers. Each release has its own; a
 * protocol's text can replace it, as in {@code kafka-2.8.1:registration=resume}.
 *
 * @param obeysLeaderless leaderless: whether brokers act on a decision that names no leader, or ignore it (ZooKeeper)
 * @param fencesRegistration registration: whether a broker that returns before anybody noticed is failed first (KIP-380)
 * @param dropsDeadOnFailOver whether electing for a leader that is gone takes dead members out of the ISR (ZooKeeper)
 * @param looksAtFollower whether a replica joins the ISR only while it fetches from the leader: as long as leaders do
 *     not refuse who fetches at another epoch
 * @param keepsLateAnswers late_answer: whether an answer in flight may outlive a decision; otherwise it is lost by it,
 *     to the same effect, for what the release does with it is nothing
 */
record Rules(
        boolean obeysLeaderless,
        boolean fencesRegistration,
        boolean dropsDeadOnFailOver,
        boolean looksAtFollower,
        boolean keepsLateAnswers) {

    static Rules of(Release release, String protocol) {
        Map<String, String> chosen = choices(protocol);
        boolean raft = release.isRaft();
        boolean fences = release.speaks("2.1");
        boolean truncatesOnFetch = release.speaks("2.7") && release.isAtLeast("2.8");
        return new Rules(
                raft,
                chosen.getOrDefault("registration", release.isAtLeast("2.2") ? "fenced" : "resume").equals("fenced"),
                !raft,
                chosen.getOrDefault("fencing", fences ? "epoch" : "none").equals("none"),
                !chosen.getOrDefault("late_answer", truncatesOnFetch && !release.isAtLeast("4.1") ? "" : "same_epoch")
                        .equals("same_epoch"));
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
