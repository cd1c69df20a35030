package subject;

import kafka.cluster.BrokerEndPoint;
import kafka.server.FailedPartitions;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicaQuota;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import scala.Option;

/** Kafka's fetcher thread, without a thread of its own. The adapter calls its doWork(). */
final class FetcherThread extends ReplicaFetcherThread {
    private final Fetcher fetcher;

    FetcherThread(BrokerEndPoint leader, KafkaConfig config, FailedPartitions failed, ReplicaManager manager,
            Metrics metrics, Time time, ReplicaQuota quota) {
        this(leader, config, failed, manager, metrics, time, quota,
                new Fetcher(leader.id(), Wire::empty, Wire::asksForOffsets));
    }

    private FetcherThread(BrokerEndPoint leader, KafkaConfig config, FailedPartitions failed, ReplicaManager manager,
            Metrics metrics, Time time, ReplicaQuota quota, Fetcher fetcher) {
        super("fetcher", 0, leader, config, failed, manager, metrics, time, quota, Option.apply(new Wire(fetcher)));
        this.fetcher = fetcher;
        fetcher.works(this::doWork, () -> fetchState(Partitions.THE_ONE).getOrElse(Scala.supplier(() -> null)));
    }

    Fetcher fetcher() {
        return fetcher;
    }

    @Override public void start() { }

    @Override public void shutdown() { }
}
