package subject;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** The brokers of one broker set, and their controller. docs/reference/wire-semantics.md specifies the events. */
final class Cluster implements AutoCloseable {
    private static final String NAMES = "ABCDE";
    private static final List<String> VERBS = List.of("produce", "fetch", "receive", "crash", "restart", "notify",
            "catch_up", "elect", "shrink", "alter", "altered");

    private final Path root;
    // a thread in which RocketMQ may wait for its own threads
    private final ExecutorService work = Executors.newSingleThreadExecutor();
    private final ExecutorService ends = Executors.newFixedThreadPool(2);
    private final List<Node> nodes = new ArrayList<>();
    private final List<Link> lost = new ArrayList<>();  // connections that the slave has closed and the master has not
    private final Set<Integer> stored = new TreeSet<>();  // records with PUT_OK
    private Settings settings;
    private Quorum quorum;
    private int produced;
    private int disks;

    Cluster(Release release) throws IOException {
        root = Scratch.create("conform-rocketmq-");
        System.setProperty("user.home", root.toString());  // the parent of the log directories of RocketMQ and RocksDB
    }

    @Override public void close() {
        ends.shutdownNow();  // the process ends and frees all resources
        Scratch.delete(root);
    }

    void reset(Settings chosen, String protocol) {
        if (!chosen.acksAll()) {
            throw new Unsupported("the adapter for RocketMQ supports acks=all only: without allAckInSyncStateSet, "
                    + "RocketMQ does not guarantee that messages are kept");
        }
        nodes.forEach(this::end);
        nodes.clear();
        lost.clear();
        stored.clear();
        settings = chosen;
        produced = 0;
        quorum = new Quorum(settings.replicas(), settings.uncleanLeaderElection(), id -> node(id).isUp());
        for (int id = 1; id <= settings.replicas(); id++) {
            Node node = new Node(id);
            node.disk = Disk.create(freshDirectory());
            nodes.add(node);
        }
        nodes.forEach(this::start);
        quorum.elect(1);
        nodes.forEach(node -> learn(node, quorum.current()));
        nodes.subList(1, nodes.size()).forEach(this::join);
        settle();
    }

    /** Connects a slave to the first master, and adds the slave to the SyncStateSet. Both brokers learn this. */
    private void join(Node slave) {
        Node master = nodes.get(0);
        for (int half = 0; half < 2; half++) {
            fetch(slave);
            receive(slave);
        }
        settle();
        alter(master);
        altered(master);
        settle();
    }

    List<String> verbs() {
        return VERBS;
    }

    /** Applies an event such as {@code fetch B}. Returns whether the event was applied. */
    boolean apply(String event) {
        String[] words = event.split(" ");
        Node node = nodes.get(NAMES.indexOf(words[1]));
        boolean applied = carryOut(words[0], node);
        settle();
        return applied;
    }

    private boolean carryOut(String verb, Node node) {
        return switch (verb) {
            case "produce" -> produce(node);
            case "fetch" -> fetch(node);
            case "receive" -> receive(node);
            case "crash" -> crash(node);
            case "restart" -> restart(node);
            case "notify" -> notify(node);
            case "catch_up" -> catchUp(node);
            case "elect" -> quorum.elect(node.id);
            case "shrink" -> shrink(node);
            case "alter" -> alter(node);
            case "altered" -> altered(node);
            default -> throw new IllegalArgumentException("unknown event: " + verb);
        };
    }

    // Replication

    private boolean produce(Node node) {
        boolean appended = node.isMaster() && node.broker.put(produced);
        produced += appended ? 1 : 0;
        return appended;
    }

    /** Delivers the slave's report to the master that it knows. The master's next frame is then in flight. */
    private boolean fetch(Node node) {
        if (!node.isUp() || node.roles.master() == null || node.roles.master() == node.id) {
            return false;
        }
        Node master = node(node.roles.master());
        if (!master.isUp() || node.link != null && node.link.isInFlight()) {
            return false;
        }
        if (node.link != null && !(node.link.isOpenAtSlave() && node.link.isOpenAtMaster())) {
            leave(node);
        }
        if (node.link == null) {
            // these connections end before the new connection begins
            lostBetween(node, master).forEach(Link::cutAtMaster);
            node.link = new Link(node.broker, master.broker);
        }
        node.link.fetch();
        return true;
    }

    private boolean receive(Node node) {
        if (node.link == null || !node.link.isInFlight()) {
            return false;
        }
        node.link.receive();
        return true;
    }

    // Faults

    /** Kills the process. The broker's disk becomes a copy of the files as they are now. */
    private boolean crash(Node node) {
        if (!node.isUp()) {
            return false;
        }
        Path image = Disk.copy(node.disk, freshDirectory());
        end(node);
        node.disk = image;
        return true;
    }

    private boolean restart(Node node) {
        if (node.isUp()) {
            return false;
        }
        start(node);
        node.next = quorum.epoch();
        return true;
    }

    // Decisions

    /**
     * Delivers the next decision. If the broker knows the latest epoch and is the master, delivers the controller's
     * current SyncStateSet.
     */
    private boolean notify(Node node) {
        if (!node.isUp()) {
            return false;
        }
        if (node.next <= quorum.epoch()) {
            boolean isCurrent = node.next == quorum.epoch();
            learn(node, isCurrent ? quorum.current() : quorum.of(node.next));
            return true;
        }
        Decision current = quorum.current();
        if (!node.isMaster() || current.setEpoch() <= node.roles.setEpoch()) {
            return false;
        }
        node.roles.changeSyncStateSet(current.set(), current.setEpoch());
        return true;
    }

    private boolean catchUp(Node node) {
        if (!node.isUp() || node.next >= quorum.epoch()) {
            return false;
        }
        learn(node, quorum.current());
        return true;
    }

    private void learn(Node node, Decision decision) {
        Long before = node.roles.master();
        node.broker.endWaiting();
        Future<?> change = work.submit(() -> {
            node.roles.learn(decision);
            return null;
        });
        node.broker.await(change);
        node.next = decision.epoch() + 1;
        if (!node.roles.master().equals(before)) {
            leave(node);
            if (!node.isMaster()) {
                node.broker.connect();
            }
        }
    }

    /** Closes the slave's connection. The master does not notice yet. */
    private void leave(Node node) {
        if (node.link != null) {
            node.link.cutAtSlave();
            lost.add(node.link);
            node.link = null;
        }
    }

    /** Returns the connections that the slave has closed and the master has not. */
    private List<Link> lostBetween(Node slave, Node master) {
        lost.removeIf(each -> !each.isOpenAtMaster());
        return lost.stream().filter(each -> each.slave.id == slave.id && each.master == master.broker)
                .collect(Collectors.toCollection(ArrayList::new));
    }

    // The SyncStateSet

    /**
     * Makes the master lose its connection to the slave. Without a connection, the master finds that the slave has
     * lagged for too long.
     */
    private boolean shrink(Node node) {
        Node master = node(quorum.current().master());
        if (master == node || !master.isMaster() || !master.broker.ha().getLocalSyncStateSet().contains(node.id)) {
            return false;
        }
        List<Link> links = lostBetween(node, master);
        if (node.link != null && node.link.master == master.broker && node.link.isOpenAtMaster()) {
            links.add(node.link);
        }
        links.forEach(Link::cutAtMaster);
        if (links.isEmpty()) {
            master.broker.lag(node.id);
            master.roles.check();
        }
        return true;
    }

    private boolean alter(Node master) {
        if (!master.isUp() || master.roles.asked() == null || master.roles.asked().isAnswered) {
            return false;
        }
        quorum.answer(master.roles.asked());
        return true;
    }

    private boolean altered(Node master) {
        if (!master.isUp() || master.roles.asked() == null || !master.roles.asked().isAnswered) {
            return false;
        }
        master.roles.answer();
        return true;
    }

    // Brokers

    private void start(Node node) {
        Roles[] roles = new Roles[1];
        node.broker = new Broker(node.id, settings, node.disk, set -> roles[0].report(set));
        node.roles = roles[0] = new Roles(node.broker);
    }

    private void end(Node node) {
        leave(node);
        nodes.stream().map(each -> each.link).filter(each -> each != null && each.master == node.broker)
                .forEach(Link::endAtMaster);
        lost.stream().filter(each -> each.master == node.broker).forEach(Link::endAtMaster);
        Broker broker = node.broker;
        Path disk = node.disk;
        node.broker = null;
        node.roles = null;
        ends.execute(() -> {
            if (broker != null) {
                broker.abandon();
            }
            Scratch.delete(disk);
        });
    }

    private Node node(long id) {
        return nodes.get((int) id - 1);
    }

    private Path freshDirectory() {
        return root.resolve(String.valueOf(disks++));
    }

    // Observation

    private void settle() {
        for (Node node : nodes) {
            if (node.isUp()) {
                if (node.link != null) {
                    node.link.settle();
                }
                node.broker.settle();
                stored.addAll(node.broker.answered());
            }
            node.look();
        }
    }

    Map<String, Object> observe() {
        Map<String, Object> replicas = new LinkedHashMap<>();
        for (Node node : nodes) {
            replicas.put(name(node.id), observe(node));
        }
        Decision current = quorum.current();
        Map<String, Object> controller = new LinkedHashMap<>();
        controller.put("leader", name(current.master()));
        controller.put("epoch", Decision.shown(current.epoch()));
        controller.put("isr", names(current.set()));
        List<String> acked = stored.stream().map(number -> "m" + number).toList();
        return Map.of("replicas", replicas, "controller", controller, "producers", Map.of("acked", acked));
    }

    private Map<String, Object> observe(Node node) {
        Map<String, Object> shown = new LinkedHashMap<>();
        boolean learned = node.isUp() && node.roles.master() != null;
        shown.put("up", node.isUp());
        shown.put("leo", node.end);
        shown.put("hw", node.confirmed);
        shown.put("log", node.log);
        shown.put("epochs", node.epochs.stream()
                .map(each -> List.of(Decision.shown(each.getEpoch()), Log.records(each.getStartOffset()))).toList());
        shown.put("leader", learned ? name(node.roles.master()) : null);
        shown.put("leader_epoch", learned ? Decision.shown(node.roles.masterEpoch()) : null);
        if (node.isMaster()) {
            shown.put("isr", names(node.broker.ha().getLocalSyncStateSet()));
            shown.put("pending_isr", names(node.broker.ha().proposed()));
        }
        return shown;
    }

    private static List<String> names(Collection<Long> ids) {
        return ids.stream().sorted().map(Cluster::name).toList();
    }

    private static String name(long id) {
        return NAMES.substring((int) id - 1, (int) id);
    }
}
