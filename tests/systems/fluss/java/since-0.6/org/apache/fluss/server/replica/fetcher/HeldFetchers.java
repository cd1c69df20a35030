package org.apache.fluss.server.replica.fetcher;

import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.server.replica.ReplicaManager;

/** Fluss's fetcher manager, whose threads are there from the start, one for each leader, and never started. */
public final class HeldFetchers extends ReplicaFetcherManager {
    private final Configuration conf;
    private final int server;
    private final ReplicaManager replicas;
    private final Map<Integer, ReplicaFetcherThread> threads = new HashMap<>();

    public HeldFetchers(Configuration conf, int server, ReplicaManager replicas) {
        super(conf, null, server, replicas);
        this.conf = conf;
        this.server = server;
        this.replicas = replicas;
    }

    /** Makes the thread towards a leader, which is asked by {@code ask}, and returns one pass of its work. */
    public Runnable hold(int leader, UnaryOperator<Object> ask) {
        ReplicaFetcherThread thread = new ReplicaFetcherThread(
                "fetcher", replicas, new HeldLeader(conf, server, leader, ask), 0);
        threads.put(leader, thread);
        getFetcherThreadMap().put(new ServerIdAndFetcherId(leader, 0), thread);
        return thread::doWork;
    }

    public Object status(int leader, TableBucket bucket) {
        return threads.get(leader).fetchStatus(bucket).orElse(null);
    }

    /** A server has other buckets too, so its threads are never idle. */
    @Override public void shutdownIdleFetcherThreads() { }
}
