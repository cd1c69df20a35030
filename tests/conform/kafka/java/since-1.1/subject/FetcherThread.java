package subject;

import kafka.cluster.BrokerEndPoint;
import kafka.server.KafkaConfig;
import kafka.server.AbstractFetcherThread.ResultWithPartitions;
import kafka.server.PartitionFetchState;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicationQuotaManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.internals.FatalExitError;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import scala.Option;
import scala.Tuple2;
import scala.collection.Seq;

/** Kafka's fetcher thread, without a thread of its own. The adapter calls its doWork(). */
final class FetcherThread extends ReplicaFetcherThread {
    private final Fetcher fetcher;

    FetcherThread(BrokerEndPoint leader, KafkaConfig config, ReplicaManager manager, Metrics metrics,
            Time time, ReplicationQuotaManager quota) {
        this(leader, config, manager, metrics, time, quota,
                new Fetcher(leader.id(), Wire::empty, Wire::asksForOffsets));
    }

    private FetcherThread(BrokerEndPoint leader, KafkaConfig config, ReplicaManager manager, Metrics metrics,
            Time time, ReplicationQuotaManager quota, Fetcher fetcher) {
        super("fetcher", 0, leader, config, manager, metrics, time, quota, Option.apply(new Wire(fetcher)));
        this.fetcher = fetcher;
        fetcher.works(this::work, () -> partitionStates().stateValue(Partitions.THE_ONE));
    }

    Fetcher fetcher() {
        return fetcher;
    }

    /** Returns whether the partition waits for the end of an epoch from the leader before it fetches. */
    boolean isTruncating() {
        PartitionFetchState state = partitionStates().stateValue(Partitions.THE_ONE);
        return state != null && state.isTruncatingLog();
    }

    private void work() {
        try {
            doWork();
        } catch (FatalExitError error) {
            throw new Halted(error);
        }
    }

    /**
     * Repeats the inherited method, because Java's compiler, unlike Scala's, does not accept it as an implementation of
     * the abstract method.
     */
    @Override @SuppressWarnings({"rawtypes", "unchecked"})
    public ResultWithPartitions buildFetchRequest(Seq<Tuple2<TopicPartition, PartitionFetchState>> partitions) {
        return super.buildFetchRequest(partitions);
    }

    @Override public void start() { }

    @Override public void shutdown() { }
}
