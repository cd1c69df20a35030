package subject;

import java.util.HashMap;
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
 *     divergence, and has let go of its lock before it truncates the log (KAFKA-13207); else the answer has not arrived by then
 * @param cutsUnasked whether a fetcher thread truncates the log, and asks nobody, in its next pass after a decision
 * @param changesIsrAtOnce isr_change: whether a change of the ISR is one event, or a request, a decision and an answer
 * @param forgetsRequests isr_queue: whether a leader that has learned a decision may propose again although a request of
 *     its is under way (KAFKA-12686)
 * @param failure stale_controller, isr_error: the answer of a former controller that ends a leader's request
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
        Failure failure,
        boolean answersDuplicates,
        boolean tracksEligibleLeaders,
        Eligibility eligibility) {

    /** Who may join the ISR: anybody, who is registered (KIP-841), or who has fetched since it registered (KIP-903). */
    enum Eligibility { UNCHECKED, ALIVE, INCARNATION }

    /** Whether a broker that returns registers once its former session is over, and is fenced then (KRaft). */
    boolean registersLater() {
        return fencesExpired && fencesRegistration;
    }

    /** None, a refusal (KAFKA-14154), or an unexpected error, which a leader fails to ask again after (KAFKA-14010). */
    enum Failure { NONE, REFUSAL, ERROR }

    /** {@code name:mechanism=choice,...} */
    static Map<String, String> choices(String protocol) {
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
