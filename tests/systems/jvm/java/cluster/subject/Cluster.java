package subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The replicas of one partition, and their controller. docs/reference/wire-semantics.md specifies the events. */
final class Cluster implements AutoCloseable {
    private static final String NAMES = "ABCDE";
    private static final List<String> VERBS = List.of("produce", "fetch", "receive", "drop", "crash", "power_loss",
            "restart", "notify", "catch_up", "elect", "expire", "shrink", "expand", "flush", "checkpoint");
    private static final List<String> ALTER_PARTITION = List.of("alter", "altered", "resend", "refuse");
    private static final List<String> LAG_TIME = List.of("lapse");
    private static final List<String> DELAYED_FETCH = List.of("expire_fetch");
    private static final List<String> RETENTION = List.of("trim");
    private static final List<String> LOST_DIRECTORY = List.of("wipe");
    private static final List<String> RETRIES = List.of("retry");
    private static final List<String> PRODUCER_EPOCHS = List.of("bump");
    private static final List<String> HEARTBEATS = List.of("shutdown", "unfence");
    private static final List<String> REGISTRATION = List.of("register");

    private final Release release;
    private final Path root;
    private final List<Node> nodes = new ArrayList<>();
    private FakeTime time;
    private Settings settings;
    private Rules rules;
    private Quorum quorum;
    private Controller controller;
    private IsrGate gate;
    private Producer producer;  // null if no record is sent again, or the release's adapter has no such producer
    private long[] brokerEpochs;
    private final Set<Integer> acknowledged = new TreeSet<>();
    private int produced;
    private int disks;

    Cluster(Release release) throws IOException {
        this.release = release;
        root = Scratch.create("conform-");
    }

    @Override public void close() {
        try {
            nodes.forEach(this::end);
        } finally {
            Scratch.delete(root);
        }
    }

    void reset(Settings chosen, String protocol) throws IOException {
        nodes.forEach(this::end);
        nodes.clear();
        release.forget();
        settings = chosen;
        rules = release.rules(protocol);
        time = new FakeTime();
        producer = settings.retries() && settings.acksAll() && release.sendsAgain() ? new Producer() : null;
        produced = 0;
        acknowledged.clear();
        brokerEpochs = new long[settings.replicas()];
        Arrays.fill(brokerEpochs, 1);
        quorum = new Quorum(release, settings, rules, brokerEpochs, time);
        controller = new Controller(settings, rules, id -> nodes.get(id).isRegistered(), brokerEpochs, quorum);
        gate = new IsrGate(controller, rules);
        for (int id = 0; id < settings.replicas(); id++) {
            Node node = new Node(id, new FakeTime());
            node.disk = new Disk(Files.createDirectory(freshDirectory()));
            nodes.add(node);
        }
        for (Node node : nodes) {
            start(node);
            learn(node, controller.current());
        }
        settle();
        nodes.forEach(this::finishTruncating);
    }

    /**
     * Lets the replica find its truncation offset before the first event. Its log is empty, so nothing changes, and no
     * request is in flight when the schedule starts.
     */
    private void finishTruncating(Node node) {
        while (node.seen.truncating() && fetch(node)) {
            receive(node);
            node.look();
        }
    }

    List<String> verbs() {
        List<String> verbs = new ArrayList<>(VERBS);
        verbs.addAll(rules.changesIsrAtOnce() ? List.of() : ALTER_PARTITION);
        verbs.addAll(rules.fencesExpired() ? HEARTBEATS : List.of());
        verbs.addAll(rules.registersLater() ? REGISTRATION : List.of());
        verbs.addAll(settings.lagTime() ? LAG_TIME : List.of());
        verbs.addAll(settings.delayedFetch() ? DELAYED_FETCH : List.of());
        verbs.addAll(settings.retention() && nodes.get(0).broker.logStart() >= 0 ? RETENTION : List.of());
        verbs.addAll(settings.lostDirectory() ? LOST_DIRECTORY : List.of());
        verbs.addAll(producer != null ? RETRIES : List.of());
        verbs.addAll(producer != null && settings.producerEpochs() ? PRODUCER_EPOCHS : List.of());
        return verbs;
    }

    /** Applies an event such as {@code fetch B}. Returns whether the event was applied. */
    boolean apply(String event) throws IOException {
        String[] words = event.split(" ");
        Node node = nodes.get(NAMES.indexOf(words[1]));
        if (!settings.lagTime()) {
            advance(release.clockMs());
        }
        boolean applied = carryOut(words[0], node);
        settle();
        return applied;
    }

    private void advance(int ms) {
        time.advance(ms);
        nodes.forEach(node -> node.time.advance(ms));
    }

    private boolean carryOut(String verb, Node node) throws IOException {
        return switch (verb) {
            case "produce" -> produce(node);
            case "retry" -> node.isUp() && producer.sendAgain(node.broker);
            case "bump" -> node.isUp() && producer.beginEpoch(node.broker);
            case "fetch" -> fetch(node);
            case "receive" -> receive(node);
            case "drop" -> drop(node);
            case "crash" -> crash(node);
            case "power_loss" -> losePower(node);
            case "wipe" -> wipe(node);
            case "restart" -> restart(node);
            case "notify" -> notify(node);
            case "catch_up" -> catchUp(node);
            case "elect" -> controller.elect(node.id);
            case "expire" -> controller.expire(node.id);
            case "shrink" -> shrink(node);
            case "expand" -> expand(node);
            case "flush" -> flush(node);
            case "checkpoint" -> checkpoint(node);
            case "trim" -> trim(node);
            case "alter" -> gate.decide(node.id);
            case "altered" -> altered(node);
            case "resend" -> gate.resend(node.id);
            case "shutdown" -> shutDown(node);
            case "unfence" -> !node.isCatchingUp && controller.unfence(node.id);
            case "register" -> register(node);
            case "lapse" -> lapse(node);
            case "expire_fetch" -> expireFetch(node);
            case "refuse" -> gate.refuse(node.id);
            default -> throw new IllegalArgumentException("unknown event: " + verb);
        };
    }

    // Replication

    private boolean produce(Node node) {
        if (producer != null) {
            return node.isUp() && producer.sendNext(node.broker);
        }
        boolean appended = node.isUp() && node.broker.append(produced, settings.acksAll());
        produced += appended ? 1 : 0;
        return appended;
    }

    /**
     * Sends the follower's request to the leader that it knows. The leader responds, or lets a fetch without records
     * wait.
     */
    private boolean fetch(Node node) {
        Node leader = node.isUp() && node.seen.leader() != Decision.NOBODY ? nodes.get(node.seen.leader()) : node;
        if (leader == node || !leader.isUp() || node.waitsFor(leader) && !isOver(node)) {
            return false;
        }
        if (node.waitsFor(leader)) {
            endWait(node);
            receive(node);  // the fetcher thread for this leader sends no further request before it has the response
        }
        Fetcher fetcher = node.broker.fetcher(leader.id);
        Optional<Object> request = fetcher.ask();
        if (request.isEmpty()) {
            return false;
        }
        Wait wait = new Wait(leader);
        wait.begin(leader.broker.serve(request.get(), wait::end));
        if (!settings.delayedFetch()) {
            wait.expire();
        }
        if (wait.answer() != null && wait.answer().isError()) {
            fetcher.receive(wait.answer());  // Kafka's code for this release handles the error
            return false;
        }
        node.discardAnswer();  // a response that another fetcher thread waits for
        node.asked = fetcher;
        node.wait = wait;
        deliver(node);
        if (!isLookup(request.get()) && leader.broker.remoteLeo(node.id) == node.seen.leo()) {
            leader.heard.add(node.id);
        }
        return true;
    }

    /** Returns whether the request is OffsetsForLeaderEpoch, which changes no state of the leader. */
    private static boolean isLookup(Object request) {
        return request.getClass().getSimpleName().startsWith("OffsetsForLeaderEpoch");
    }

    /** Passes the response to Kafka's code, which decides whether a late response still has an effect. */
    private boolean receive(Node node) {
        if (node.answer == null) {
            return false;
        }
        boolean isOver = isOver(node);
        Replica before = node.seen;
        Fetcher fetcher = node.asked;
        Answer answer = node.answer;
        node.forgetAnswer();
        try {
            fetcher.receive(answer);
        } catch (Halted halted) {
            crash(node);
        }
        node.look();
        return !isOver || !node.seen.equals(before);
    }

    /** Ends the time that the leader lets the follower's fetch wait. */
    private boolean expireFetch(Node node) {
        if (node.wait == null || isOver(node)) {
            return false;
        }
        endWait(node);
        return true;
    }

    private void endWait(Node node) {
        if (node.wait != null) {
            node.wait.expire();
            deliver(node);
        }
    }

    /**
     * Puts a response that the leader has sent in flight. The follower receives an error at once, so that it can fetch
     * again.
     */
    private void deliver(Node node) {
        if (node.wait == null || node.wait.answer() == null) {
            return;
        }
        node.answer = node.wait.answer();
        node.wait = null;
        if (node.answer.isError()) {
            receive(node);
        }
    }

    private boolean drop(Node node) {
        if (node.wait != null && !isOver(node)) {
            return false;
        }
        boolean wasInFlight = node.answer != null && !isOver(node);
        node.discardAnswer();
        return wasInFlight;
    }

    /**
     * Returns whether the response is too late: since the request, a decision has made the follower start to fetch
     * again. Events then behave as if nothing were in flight. If the response still has an effect, {@code receive}
     * reports it.
     */
    private boolean isOver(Node node) {
        return !rules.awaitsLateAnswers() && node.asked.hasRestarted();
    }

    // Faults

    /** Kills the process. The broker's disk becomes a copy of the files as they are now. */
    private boolean crash(Node node) {
        if (!node.isUp()) {
            return false;
        }
        Disk image = node.disk.copyTo(freshDirectory());
        end(node);
        node.isUnregistered = false;
        node.isCatchingUp = false;
        gate.forget(node.id);
        node.heard.clear();
        nodes.stream().filter(other -> other.waitsAt(node)).forEach(Node::discardAnswer);
        node.disk = image;
        return true;
    }

    private boolean losePower(Node node) {
        if (!node.isUp()) {
            return false;
        }
        long size = node.seen.leo() == 0 ? 0 : node.disk.size() / node.seen.leo() * node.flushed;
        crash(node);
        node.disk = node.disk.loseAllBut(size);
        return true;
    }

    /** Kills the process, and empties its log directory, which also removes the mark of a clean shutdown. */
    private boolean wipe(Node node) throws IOException {
        if (!crash(node) && node.seen.leo() == 0) {
            return false;
        }
        Scratch.delete(node.disk.directory());
        node.disk = new Disk(Files.createDirectory(freshDirectory()));
        controller.forgetCleanShutdown(node.id);
        return true;
    }

    /**
     * Makes a controlled shutdown: ends the broker's session, and writes all its data to disk. The adapter then kills
     * the process, so the next start recovers the log as after a crash.
     */
    private boolean shutDown(Node node) {
        if (!node.isRegistered()) {
            return false;
        }
        controller.shutDown(node.id);
        flush(node);
        checkpoint(node);
        return crash(node);
    }

    private boolean restart(Node node) {
        if (node.isUp()) {
            return false;
        }
        node.isUnregistered = rules.registersLater();
        if (!node.isUnregistered) {
            controller.register(node.id);
        }
        start(node);
        forgetDecisions(node);
        return true;
    }

    /**
     * Registers a restarted broker. The controller accepts a new process of a broker only after the session of the
     * former process has ended.
     */
    private boolean register(Node node) {
        if (!node.isUp() || !node.isUnregistered || !controller.fenced().contains(node.id)) {
            return false;
        }
        controller.registerFenced(node.id);
        node.isUnregistered = false;
        node.isCatchingUp = true;
        forgetDecisions(node);
        return true;
    }

    private void forgetDecisions(Node node) {
        node.next = controller.epoch();
        node.version = -1;
        node.answered = -1;
    }

    private boolean flush(Node node) {
        if (!node.isUp() || node.flushed == node.seen.leo()) {
            return false;
        }
        node.broker.flush();
        node.flushed = node.seen.leo();
        return true;
    }

    private boolean trim(Node node) {
        if (!node.isUp() || node.logStart() >= Math.min(node.seen.hw(), node.seen.leo())) {
            return false;
        }
        return node.broker.deleteBelow(node.logStart() + 1);
    }

    private boolean checkpoint(Node node) {
        if (!node.isUp() || node.checkpointed == node.seen.hw()) {
            return false;
        }
        node.broker.checkpoint();
        node.checkpointed = node.seen.hw();
        return true;
    }

    // Decisions

    /**
     * Delivers the next decision. If replicas ignore decisions without a leader (ZooKeeper), such a decision does
     * not count, and the decision after it is delivered.
     */
    private boolean notify(Node node) {
        return node.isRegistered() && (learnUpTo(node, nextDecision(node)) || refresh(node));
    }

    /**
     * Delivers to a KRaft leader the changes that started no new leader epoch: of the ISR, or of other brokers'
     * registrations.
     */
    private boolean refresh(Node node) {
        if (!release.isRaft() || node != trueLeader() || isCurrent(node) && !isBehindOnBrokers(node)) {
            return false;
        }
        tell(node, controller.current());
        return true;
    }

    /**
     * Delivers the latest decision, if the broker has not learned two decisions or more. These may include decisions
     * without a leader.
     */
    private boolean catchUp(Node node) {
        int last = lastDecision();
        return node.isRegistered() && node.next < controller.epoch() && node.next <= last && learnUpTo(node, last);
    }

    private boolean isBehindOnBrokers(Node node) {
        return rules.fencesExpired() && quorum.isKafkas() && !node.registrations.equals(controller.registrations());
    }

    private int nextDecision(Node node) {
        int epoch = node.next;
        while (epoch <= controller.epoch() && !counts(epoch)) {
            epoch++;
        }
        return epoch;
    }

    private int lastDecision() {
        int epoch = controller.epoch();
        while (!counts(epoch)) {
            epoch--;
        }
        return epoch;
    }

    private boolean counts(int epoch) {
        return rules.obeysLeaderless() || controller.of(epoch).hasLeader();
    }

    private boolean learnUpTo(Node node, int epoch) {
        if (epoch > controller.epoch()) {
            return false;
        }
        learn(node, controller.of(epoch));
        return true;
    }

    private void learn(Node node, Decision decision) {
        tell(node, decision);
        Fetcher fetcher = node.broker.fetcher(decision.leader());
        if (fetcher != null && fetcher.isWaiting() && rules.cutsUnasked()) {
            endWait(node);
            receive(node);
        }
        if (fetcher != null && !fetcher.isWaiting()) {
            fetcher.passSilently();
        }
    }

    /**
     * Delivers a decision. A broker that has just started receives the whole state, and other brokers receive only the
     * changes.
     */
    private void tell(Node node, Decision decision) {
        if (decision.epoch() > node.seen.leaderEpoch()) {
            node.heard.clear();
        }
        if (rules.cutsWhateverIs() && node.answer != null && node.answer.diverges() && !node.holdsAnswer) {
            node.asked.receiveUpToUnlock(node.answer);
            node.holdsAnswer = true;
        }
        int end = controller.end(decision);
        node.broker.learn(decision, quorum.records(node.position, end));
        node.position = end;
        node.next = decision.epoch() + 1;
        node.isCatchingUp = false;
        node.version = decision.version();
        node.registrations = decision.equals(controller.current()) ? controller.registrations() : List.of();
    }

    // In-sync replicas

    /**
     * Makes the leader remove a lagging follower. A Kafka leader counts a follower that never fetched as lagging even
     * if the leader's log is empty. The event leaves this case out, because it would be the first step of most
     * schedules. A follower that is ahead of an empty leader does lag.
     */
    private boolean shrink(Node node) {
        Node leader = trueLeader();
        if (leader == null || leader == node || !mayPropose(leader)
                || leader.seen.leo() == 0 && leader.broker.remoteLeo(node.id) <= 0) {
            return false;
        }
        if (!settings.lagTime()) {
            // the follower has now lagged for longer than replica.lag.time.max.ms
            advance(FakeTime.LAG_MS + 1 - release.clockMs());
        }
        Set<Integer> isr = new TreeSet<>(leader.seen.isr());
        return isr.remove(node.id) && propose(leader, isr, () -> leader.broker.proposeShrink(node.id));
    }

    /** Lets the lag time pass on the clock of one leader. This runs no code of the leader. */
    private boolean lapse(Node node) {
        boolean leads = node.isUp() && node.seen.leader() == node.id;
        node.time.advance(leads ? FakeTime.LAG_MS + 1 : 0);
        return leads;
    }

    /**
     * Makes the leader add a follower to the ISR. A Kafka leader checks this only while it handles a fetch of that
     * follower (Partition.updateFollowerFetchState calls maybeExpandIsr). Here the leader checks the state that the
     * last fetch left, so the follower must have fetched since the leader learned its present epoch. A leader that is
     * elected again keeps the follower's state of the earlier epoch (Partition.makeLeader, isNewLeader), but no fetch
     * of the present epoch has brought that state.
     */
    private boolean expand(Node node) {
        Node leader = trueLeader();
        if (leader == null || leader == node || !mayPropose(leader) || !leader.heard.contains(node.id)
                || rules.looksAtFollower() && !follows(node, leader)) {
            return false;
        }
        Set<Integer> isr = new TreeSet<>(leader.seen.isr());
        return isr.add(node.id) && propose(leader, isr, () -> leader.broker.proposeExpand(node.id));
    }

    /**
     * Returns whether the leader may propose an ISR. A leader has one request in flight, unless a later decision has
     * made it forget the request. If a change of the ISR is one event, the leader must know the current version,
     * because the controller rejects other proposals.
     */
    private boolean mayPropose(Node leader) {
        return rules.changesIsrAtOnce() ? isCurrent(leader) : rules.forgetsRequests() || !gate.isBusy(leader.id);
    }

    private boolean propose(Node leader, Set<Integer> isr, Runnable work) {
        Decision asked = new Decision(leader.seen.leaderEpoch(), leader.id, List.copyOf(isr), leader.version());
        boolean proposed = gate.opens(asked, work);
        if (proposed && rules.changesIsrAtOnce()) {
            leader.answered = controller.version();
        }
        return proposed;
    }

    private boolean altered(Node leader) {
        int version = gate.answer(leader.id);
        leader.answered = Math.max(leader.answered, version);
        return version >= 0;
    }

    private static boolean follows(Node node, Node leader) {
        return node.isUp() && node.seen.leader() == leader.id && !node.seen.truncating();
    }

    /**
     * Returns whether the leader knows the current version of the partition's state. Within a leader epoch, only the
     * leader changes this state under ZooKeeper.
     */
    private boolean isCurrent(Node leader) {
        return leader.version() == controller.version();
    }

    /**
     * Returns the leader of the current decision, or null if it is down or has not learned this decision. Only this
     * broker may change the ISR.
     */
    private Node trueLeader() {
        if (!controller.current().hasLeader()) {
            return null;
        }
        Node leader = nodes.get(controller.current().leader());
        return leader.isUp() && leader.next > controller.epoch() ? leader : null;
    }

    // Brokers

    private void start(Node node) {
        node.position = 0;
        node.noted = 0;
        long[] epochs = brokerEpochs;
        if (node.isUnregistered) {
            epochs = brokerEpochs.clone();
            epochs[node.id]++;  // the broker epoch that its registration will get
        }
        node.broker = release.start(new Host(
                node.id, release, settings, node.disk, node.time, gate, rules.changesIsrAtOnce(), epochs));
        note(node);
        node.look();
        node.checkpointed = node.disk.highWatermark();
    }

    private void note(Node node) {
        List<Object> records = quorum.registrations();
        if (node.noted < records.size()) {
            node.broker.note(records.subList(node.noted, records.size()));
            node.noted = records.size();
        }
    }

    private void end(Node node) {
        if (node.isUp()) {
            node.discardAnswer();
            node.broker.abandon();
            node.broker = null;
        }
        Scratch.delete(node.disk.directory());
    }

    private Path freshDirectory() {
        return root.resolve(String.valueOf(disks++));
    }

    // Observation

    private void settle() {
        nodes.forEach(this::deliver);
        for (Node node : nodes) {
            if (node.isUp()) {
                note(node);
                node.broker.finishScheduled();
                acknowledged.addAll(node.broker.acknowledged());
            }
            node.look();
            if (node.isUp() && !settings.asynchronousCheckpoint() && node.next > 0) {
                checkpoint(node);
            }
            if (node.isUp() && settings.retention()) {
                node.broker.checkpointLogStart();
            }
        }
        Node leader = trueLeader();
        if (leader != null && isCurrent(leader) && !leader.seen.isr().equals(new TreeSet<>(controller.current().isr()))) {
            throw new IllegalStateException("the leader's ISR is " + leader.seen.isr() + ", the controller's "
                    + controller.current().isr());
        }
    }

    Map<String, Object> observe() {
        Map<String, Object> replicas = new LinkedHashMap<>();
        for (Node node : nodes) {
            replicas.put(name(node.id), observe(node));
        }
        Map<String, Object> current = new LinkedHashMap<>();
        current.put("leader", name(controller.current().leader()));
        current.put("epoch", controller.epoch());
        current.put("isr", names(controller.current().isr()));
        if (rules.fencesExpired()) {
            current.put("fenced", names(controller.fenced()));
        }
        if (rules.tracksEligibleLeaders()) {
            current.put("elr", names(quorum.elr()));
            current.put("last_known_leader", name(quorum.lastKnownLeader()));
        }
        Map<String, Object> observation = new LinkedHashMap<>(Map.of("replicas", replicas, "controller", current));
        if (producer != null) {
            observation.put("producers", Map.of("acked", records(producer.acknowledged())));
        } else if (release.answersProducers()) {
            observation.put("producers", Map.of("acked", records(acknowledged)));
        }
        return observation;
    }

    private Map<String, Object> observe(Node node) {
        Replica seen = node.seen;
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("up", node.isUp());
        shown.put("leo", seen.leo());
        // a leader up to 2.1 may not know its high watermark, and then serves no record to consumers
        shown.put("hw", Math.max(0, seen.hw()));
        long start = settings.retention() ? Math.max(0, node.logStart()) : 0;
        shown.put("log", log(node, start));
        if (settings.retention()) {
            shown.put("log_start", start);
        }
        if (seen.epochs() != null) {
            shown.put("epochs", seen.epochs());
        }
        if (producer != null) {
            shown.put("waiting", records(node.isUp() ? producer.waitingAt(node.broker) : Set.of()));
        }
        shown.put("leader", name(seen.leader()));
        shown.put("leader_epoch", seen.leaderEpoch() < 0 ? null : seen.leaderEpoch());
        boolean leads = seen.isr() != null;
        if (!rules.changesIsrAtOnce()) {
            shown.put("isr", names(leads ? seen.isr() : Set.of()));
            shown.put("pending_isr", names(leads ? node.broker.pendingIsr() : Set.of()));
        }
        if (leads) {
            shown.put("own", Map.of("remote_leo", remoteLeos(node), "isr", names(seen.isr())));
        }
        return shown;
    }

    /**
     * Returns the records by offset, with DELETED for every offset below the log start. The file may still have the
     * deleted records.
     */
    private static List<List<Object>> log(Node node, long start) {
        List<List<Object>> records = new ArrayList<>(Collections.nCopies((int) start, List.of("DELETED", 0)));
        long deleted = start == 0 ? 0 : start - node.disk.firstOffset();
        node.seen.log().stream().skip(deleted).forEach(entry -> records.add(List.of("m" + entry.number(), entry.epoch())));
        return records;
    }

    /**
     * Returns the followers' log end offsets that the leader knows. Followers that never fetched from it are left out.
     */
    private Map<String, Long> remoteLeos(Node leader) {
        Map<String, Long> known = new TreeMap<>();
        for (Node node : nodes) {
            long leo = node == leader ? -1 : leader.broker.remoteLeo(node.id);
            if (leo >= 0) {
                known.put(name(node.id), leo);
            }
        }
        return known;
    }

    private static List<String> records(Collection<Integer> numbers) {
        return numbers.stream().map(number -> "m" + number).toList();
    }

    private static List<String> names(Collection<Integer> ids) {
        return ids.stream().sorted().map(Cluster::name).toList();
    }

    private static String name(int id) {
        return id == Decision.NOBODY ? null : NAMES.substring(id, id + 1);
    }
}
