package subject;

import java.util.Arrays;
import java.util.Map;
import java.util.Properties;

/**
 * The Kafka release from the command line: {@code RELEASE [--ibp VERSION] [--clock MS]}.
 *
 * @param interBrokerProtocol inter.broker.protocol.version; null for the release's default
 * @param clockMs the time that passes before each event, in milliseconds
 */
record Release(String version, String interBrokerProtocol, int clockMs) {
    static Release of(String... arguments) {
        String protocol = null;
        int clockMs = FakeTime.LAG_MS + 1;
        for (int i = 1; i + 1 < arguments.length; i += 2) {
            if (arguments[i].equals("--ibp")) {
                protocol = arguments[i + 1];
            } else {
                clockMs = Integer.parseInt(arguments[i + 1]);
            }
        }
        return new Release(arguments[0], protocol, clockMs);
    }

    boolean isAtLeast(String other) {
        return Arrays.compare(numbers(version), numbers(other)) >= 0;
    }

    /** Returns whether the inter-broker protocol is at least that of {@code other}. */
    boolean speaks(String other) {
        return interBrokerProtocol == null
                ? isAtLeast(other) : Arrays.compare(numbers(interBrokerProtocol), numbers(other)) >= 0;
    }

    /** Returns whether brokers apply metadata records (KRaft) instead of requests of a ZooKeeper controller. */
    boolean isRaft() {
        return KafkaBroker.IS_RAFT;
    }

    /**
     * Returns whether the adapter reports the acknowledgements that brokers send to producers. Otherwise, epochfuzz
     * derives the acknowledgements from the observations.
     */
    boolean answersProducers() {
        return false;
    }

    /** Returns whether the adapter has a producer that sends records again. It needs the responses of Kafka's purgatory. */
    boolean sendsAgain() {
        return isAtLeast("2.5");
    }

    Rules rules(String protocol) {
        return KafkaRules.of(this, protocol);
    }

    Broker start(Host host) {
        KafkaBroker broker = new KafkaBroker(host);
        return host.settings().lagTime() ? LagTime.of(broker, host) : broker;
    }

    /** Removes the metrics that brokers of earlier schedules have left in this process. */
    void forget() {
        Gauges.forget();
    }

    /** Returns the version of the record format. */
    byte magic() {
        return (byte) (speaks("0.11") ? 2 : 1);
    }

    /** Returns the size in bytes of a batch with one record. All values have the same length. */
    int batchSize() {
        return magic() == 2 ? 74 : 40;
    }

    /**
     * Returns the configuration of a broker. Settings that are missing here have no observable effect. The log
     * directory is missing, because the log manager receives it as an argument. Since 1.0 (KIP-112), only
     * DescribeLogDirs reads it from the configuration.
     */
    Properties properties(Host host) {
        Settings settings = host.settings();
        Properties properties = new Properties();
        properties.putAll(isRaft() ? raft(host.id()) : zooKeeper(host.id()));
        properties.put("min.insync.replicas", String.valueOf(settings.minInsyncReplicas()));
        properties.put("unclean.leader.election.enable", String.valueOf(settings.uncleanLeaderElection()));
        properties.put("replica.fetch.backoff.ms", "0");
        properties.put("replica.lag.time.max.ms", String.valueOf(FakeTime.LAG_MS));
        properties.put("replica.fetch.max.bytes", String.valueOf(settings.recordsPerFetch() * batchSize()));
        properties.put("log.cleaner.enable", "false");
        properties.put("log.index.size.max.bytes", "1000");
        properties.put("num.recovery.threads.per.data.dir", "1");
        String protocol = interBrokerProtocol(host.changesIsrAtOnce());
        if (protocol != null && !isRaft()) {
            properties.put("inter.broker.protocol.version", protocol);
            properties.put("log.message.format.version", protocol);
        }
        return properties;
    }

    /**
     * Returns inter.broker.protocol.version, or null for the release's default. From 2.7-IV2 on, a leader of 2.7 sends
     * its ISR change to the controller (ApiVersion.isAlterIsrSupported). Below, it writes the change to ZooKeeper,
     * which is one event.
     */
    private String interBrokerProtocol(boolean changesIsrAtOnce) {
        boolean isOwn = interBrokerProtocol == null;
        return isOwn && changesIsrAtOnce && isAtLeast("2.7") && !isAtLeast("2.8") ? "2.7-IV1" : interBrokerProtocol;
    }

    private static Map<String, String> zooKeeper(int broker) {
        return Map.of("broker.id", String.valueOf(broker), "zookeeper.connect", "nowhere:1");
    }

    private static Map<String, String> raft(int broker) {
        return Map.of("process.roles", "broker", "node.id", String.valueOf(broker),
                "controller.quorum.voters", "9@nowhere:1", "controller.listener.names", "CONTROLLER",
                "listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                "listeners", "PLAINTEXT://broker:1");
    }

    private static int[] numbers(String version) {
        return Arrays.stream(version.split("[.-]"))
                .takeWhile(part -> part.chars().allMatch(Character::isDigit)).mapToInt(Integer::parseInt).toArray();
    }
}
