package subject;

import kafka.cluster.BrokerEndPoint;
import kafka.server.FailedPartitions;
import kafka.server.KafkaConfig;
import kafka.server.RemoteLeaderEndPoint;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicaQuota;
import org.apache.kafka.clients.FetchSessionHandler;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.server.common.MetadataVersion;
import scala.Function0;

/** Kafka's fetcher thread, without a thread of its own. The adapter calls its doWork(). */
final class FetcherThread extends ReplicaFetcherThread {
    private final Fetcher fetcher;

    FetcherThread(BrokerEndPoint leader, KafkaConfig config, FailedPartitions failed, ReplicaManager manager,
            ReplicaQuota quota, Function0<MetadataVersion> version, Function0<Object> brokerEpoch) {
        this(leader, config, failed, manager, quota, version, brokerEpoch,
                new Fetcher(leader.id(), Wire::empty, Wire::asksForOffsets));
    }

    private FetcherThread(BrokerEndPoint leader, KafkaConfig config, FailedPartitions failed, ReplicaManager manager,
            ReplicaQuota quota, Function0<MetadataVersion> version, Function0<Object> brokerEpoch,
            Fetcher fetcher) {
        super("fetcher", endPoint(leader, config, manager, quota, version, brokerEpoch, fetcher), config, failed, manager,
                quota, "", version);
        this.fetcher = fetcher;
        fetcher.works(this::doWork, () -> fetchState(Partitions.THE_ONE).getOrElse(Scala.supplier(() -> null)));
    }

    Fetcher fetcher() {
        return fetcher;
    }

    @Override public void start() { }

    @Override public void shutdown() { }

    private static RemoteLeaderEndPoint endPoint(BrokerEndPoint leader, KafkaConfig config, ReplicaManager manager,
            ReplicaQuota quota, Function0<MetadataVersion> version, Function0<Object> brokerEpoch,
            Fetcher fetcher) {
        FetchSessionHandler sessions = new FetchSessionHandler(new LogContext(), leader.id());
        return new RemoteLeaderEndPoint("", new Wire(leader, fetcher), sessions, config, manager, quota, version,
                brokerEpoch);
    }
}
