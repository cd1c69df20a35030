package org.apache.fluss.server.replica.fetcher;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.server.replica.ReplicaManager;

/** Fluss's fetcher manager. It has one fetcher thread for each leader from the beginning, and starts none. */
public final class HeldFetchers extends ReplicaFetcherManager {
    private final Configuration conf;
    private final int server;
    private final ReplicaManager replicas;
    private final Map<Integer, ReplicaFetcherThread> threads = new HashMap<>();

    public HeldFetchers(Configuration conf, int server, ReplicaManager replicas) {
        super(conf, null, server, replicas, leader -> Optional.empty());
        this.conf = conf;
        this.server = server;
        this.replicas = replicas;
    }

    /**
     * Creates the fetcher thread for a leader, which sends its requests with {@code ask}. Returns one pass of its
     * doWork().
     */
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

    /** Does nothing. A real server has other buckets too, so its fetcher threads are never idle. */
    @Override public void shutdownIdleFetcherThreads() { }
}
