package org.apache.kafka.clients.consumer.internals;

import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.consumer.internals.SubscriptionState.FetchPosition;
import org.apache.kafka.clients.consumer.internals.SubscriptionState.LogTruncation;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.common.utils.LogContext;

import org.junit.jupiter.api.Test;

import java.util.Optional;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A consumer must detect a truncation if the leader has no record of the epoch that the consumer has read last, even if
 * the end offset of an older epoch is not below the position. The tests also run in SubscriptionStateTest.
 */
public class ConsumerPositionTest {
    private final TopicPartition tp0 = new TopicPartition("test", 0);

    @Test
    public void testTruncationDetectionOnEndOffsetOfOlderEpochWithoutResetPolicy() {
        SubscriptionState state = new SubscriptionState(new LogContext(), AutoOffsetResetStrategy.NONE);
        assertTrue(completeValidation(state).isPresent(), "the leader has no record of the epoch that was read last");
    }

    @Test
    public void testTruncationDetectionOnEndOffsetOfOlderEpochWithResetPolicy() {
        SubscriptionState state = new SubscriptionState(new LogContext(), AutoOffsetResetStrategy.EARLIEST);
        completeValidation(state);
        assertTrue(state.isOffsetResetNeeded(tp0) || state.position(tp0).offset < 1,
                "the record at offset 0 is a different record, so the position must not stay at offset 1");
    }

    /**
     * The consumer has read the record of epoch 1 at offset 0. The leader of epoch 2 has a record of epoch 0 at this
     * offset, and no record of epoch 1.
     */
    private Optional<LogTruncation> completeValidation(SubscriptionState state) {
        Node leader = new Node(1, "localhost", 9092);
        FetchPosition position = new FetchPosition(1, Optional.of(1),
                new Metadata.LeaderAndEpoch(Optional.of(leader), Optional.of(2)));
        state.assignFromUser(Set.of(tp0));
        state.seekUnvalidated(tp0, position);
        assertTrue(state.awaitingValidation(tp0));
        return state.maybeCompleteValidation(tp0, position, new EpochEndOffset().setLeaderEpoch(0).setEndOffset(1));
    }
}
