package subject;

import kafka.cluster.BrokerEndPoint;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicationQuotaManager;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** Kafka's fetcher thread, without a thread of its own. The adapter calls its doWork(). */
final class FetcherThread extends ReplicaFetcherThread {
    private final Fetcher fetcher;

    FetcherThread(BrokerEndPoint leader, KafkaConfig config, ReplicaManager manager, Metrics metrics, Time time,
            ReplicationQuotaManager quota) {
        super("fetcher", 0, leader, config, manager, metrics, time, quota);
        fetcher = new Fetcher(leader.id(), Wire::empty, Wire::asksForOffsets);
        fetcher.works(() -> Exits.caught(this::doWork),
                () -> kafka$server$AbstractFetcherThread$$partitionStates().stateValue(Partitions.THE_ONE));
        ((NetworkClient) Reflect.get(this, ReplicaFetcherThread.class, "networkClient")).close();
        Reflect.set(this, ReplicaFetcherThread.class, "networkClient", new Wire(fetcher, time));
    }

    Fetcher fetcher() {
        return fetcher;
    }

    @Override public void start() { }

    @Override public void shutdown() { }
}
