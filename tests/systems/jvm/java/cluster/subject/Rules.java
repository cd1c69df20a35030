package subject;

import java.util.HashMap;
import java.util.Map;

/**
 * The rules of the controller that the adapter implements, and the harness's assumptions about followers. Each release
 * has its own rules. The protocol's name can override them, as in {@code kafka-2.8.1:registration=resume}. A name in
 * front of a colon is the mechanism that sets the rule.
 *
 * @param obeysLeaderless leaderless: whether brokers apply a decision without a leader, or ignore it (ZooKeeper)
 * @param fencesExpired whether a broker whose session has ended is fenced until its next heartbeat (KRaft)
 * @param fencesRegistration registration: whether the registration of a restarted broker first ends its former session
 *     (KIP-380)
 * @param bumpsEpochOnFence follower_fence_epoch: whether the removal of a follower from the ISR starts a new leader
 *     epoch
 * @param dropsDeadOnFailOver whether an election after the leader has died removes dead members from the ISR
 *     (ZooKeeper)
 * @param looksAtFollower whether a replica joins the ISR only while it fetches from the leader. This holds for leaders
 *     that do not reject a fetch at another leader epoch
 * @param awaitsLateAnswers late_answer: whether a response counts as in flight after a decision has made its follower
 *     start to fetch again. This only decides which events are applied: Kafka's code receives every response
 * @param cutsWhateverIs late_answer: whether a decision arrives while the fetcher thread has a diverging response and
 *     has released its lock, but has not truncated the log yet (KAFKA-13207). Otherwise, the decision arrives before
 *     the response
 * @param cutsUnasked whether a fetcher thread truncates the log without a request in its first pass after a decision
 * @param changesIsrAtOnce isr_change: whether a change of the ISR is one event, or a request, a decision and a response
 * @param forgetsRequests isr_queue: whether a leader that has learned a decision may propose again while its earlier
 *     request is in flight (KAFKA-12686)
 * @param failure stale_controller, isr_error: the error by which a deposed controller ends a leader's request
 * @param answersDuplicates isr_duplicate: whether a request for the current ISR succeeds (ZooKeeper)
 * @param tracksEligibleLeaders eligible_leaders: whether the cluster has eligible leader replicas (KIP-966)
 * @param eligibility isr_eligibility: the conditions under which the controller accepts a replica in the ISR
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

    /**
     * The replicas that may join the ISR: all, registered and unfenced ones (KIP-841), or those that have also fetched
     * since their registration (KIP-903).
     */
    enum Eligibility { UNCHECKED, ALIVE, INCARNATION }

    /**
     * Returns whether a restarted broker registers only after its former session has ended, and starts fenced (KRaft).
     */
    boolean registersLater() {
        return fencesExpired && fencesRegistration;
    }

    /**
     * No error, a rejection (KAFKA-14154), or an unexpected error, after which the leader fails to send the request
     * again (KAFKA-14010).
     */
    enum Failure { NONE, REFUSAL, ERROR }

    /** Parses {@code name:mechanism=choice,...}. Returns the choice of each mechanism. */
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
