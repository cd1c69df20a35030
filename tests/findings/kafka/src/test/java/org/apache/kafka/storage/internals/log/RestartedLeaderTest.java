package org.apache.kafka.storage.internals.log;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.transaction.TransactionLogConfig;
import org.apache.kafka.server.util.MockTime;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * A broker must recognize the last 5 batches of an idempotent producer after a restart too, because the producer may
 * send any of them again. The tests can be copied into UnifiedLogTest.
 */
public class RestartedLeaderTest {
    private static final int LEADER_EPOCH = 0;

    private final MockTime time = new MockTime();
    private final BrokerTopicStats stats = new BrokerTopicStats(false);
    private File directory;

    @BeforeEach
    public void setUp() throws IOException {
        directory = Files.createTempDirectory("restarted-leader").toFile();
    }

    @AfterEach
    public void tearDown() throws IOException {
        stats.close();
        Utils.delete(directory);
    }

    @Test
    public void testDuplicateOfEarlierBatchAfterUncleanShutdown() throws IOException {
        UnifiedLog log = createLog(true);
        append(log);
        // The broker stops without a snapshot of the producers, and then recovers the log.
        assertEquals(OptionalLong.empty(), log.latestProducerSnapshotOffset());
        assertDuplicateOfEarlierBatch(createLog(false));
        log.close();
    }

    @Test
    public void testDuplicateOfEarlierBatchAfterCleanShutdown() throws IOException {
        UnifiedLog log = createLog(true);
        append(log);
        log.close();
        assertDuplicateOfEarlierBatch(createLog(true));
    }

    /** Append two batches of a producer, and check that the log recognizes both batches. */
    private void append(UnifiedLog log) throws IOException {
        log.appendAsLeader(batch(0), LEADER_EPOCH);
        log.appendAsLeader(batch(1), LEADER_EPOCH);
        assertEquals(0, log.appendAsLeader(batch(0), LEADER_EPOCH).firstOffset());
        assertEquals(1, log.appendAsLeader(batch(1), LEADER_EPOCH).firstOffset());
        assertEquals(2, log.logEndOffset());
    }

    private void assertDuplicateOfEarlierBatch(UnifiedLog log) throws IOException {
        assertEquals(2, log.logEndOffset());
        assertEquals(1, log.appendAsLeader(batch(1), LEADER_EPOCH).firstOffset());
        LogAppendInfo info = assertDoesNotThrow(() -> log.appendAsLeader(batch(0), LEADER_EPOCH),
                "the log has the batch at offset 0, so the batch is a duplicate");
        assertEquals(0, info.firstOffset());
        assertEquals(2, log.logEndOffset());
        log.close();
    }

    private MemoryRecords batch(int sequence) {
        SimpleRecord record = new SimpleRecord(time.milliseconds(), ("m" + sequence).getBytes());
        return MemoryRecords.withIdempotentRecords(Compression.NONE, 1L, (short) 0, sequence, record);
    }

    private UnifiedLog createLog(boolean lastShutdownClean) throws IOException {
        File log = Files.createDirectories(Path.of(directory.getPath(), "test-0")).toFile();
        return UnifiedLog.create(log, new LogConfig(new Properties()), 0L, 0L, time.scheduler, stats, time, 3600000,
                new ProducerStateManagerConfig(86400000, false),
                TransactionLogConfig.PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS_DEFAULT, new LogDirFailureChannel(10),
                lastShutdownClean, Optional.empty(), new ConcurrentHashMap<>(), false,
                LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
    }
}
