package kafka.cluster

import java.util.Optional
import org.apache.kafka.common.{DirectoryId, Uuid}
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.record.internal.{MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.metadata.{LeaderRecoveryState, PartitionRegistration}
import org.apache.kafka.server.common.RequestLocal
import org.apache.kafka.server.storage.log.{FetchIsolation, FetchParams}
import org.apache.kafka.storage.internals.log.AppendOrigin
import org.junit.jupiter.api.Assertions.{assertEquals, assertTrue}
import org.junit.jupiter.api.Test

/**
 * A leader that is elected again after a leader epoch that it missed must not use the follower offsets of its previous
 * leader epoch. The test extends the base class of PartitionTest, and can be copied into PartitionTest.
 */
class ReElectedLeaderTest extends AbstractPartitionTest {
  private val follower = remoteReplicaId
  private val otherLeader = remoteReplicaId + 1
  private val replicas = Array(otherLeader, brokerId, follower)

  @Test
  def testHighWatermarkAfterReElectionIgnoresFollowerOffsetsFromBeforeMissedEpoch(): Unit = {
    partition.createLogIfNotExists(isNew = true, isFutureReplica = false, offsetCheckpoints, topicId)
    assertTrue(makeLeader(leaderEpoch = 0, partitionEpoch = 1, isr = replicas))

    // The follower copies the record. Its next fetch sets its log end offset on the leader to 1.
    append("m")
    fetch(leaderEpoch = 0, fetchOffset = 0)
    fetch(leaderEpoch = 0, fetchOffset = 1)
    assertEquals(0, highWatermark, "the third member of the ISR has not fetched the record")

    // The third member leads epoch 1 without the record, and the follower truncates its log to offset 0. This broker
    // misses epoch 1. The next metadata update that this broker applies makes it the leader of epoch 2.
    makeLeader(leaderEpoch = 2, partitionEpoch = 3, isr = Array(brokerId, follower))
    assertEquals(0, highWatermark, "the follower has not fetched in epoch 2, so the record is not committed")

    fetch(leaderEpoch = 2, fetchOffset = 0)
    assertEquals(0, highWatermark, "the follower fetches the record that it has truncated")
    fetch(leaderEpoch = 2, fetchOffset = 1)
    assertEquals(1, highWatermark, "the follower has the record again")
  }

  private def highWatermark: Long = partition.localLogOrException.highWatermark

  private def makeLeader(leaderEpoch: Int, partitionEpoch: Int, isr: Array[Int]): Boolean = {
    val registration = new PartitionRegistration.Builder()
      .setLeader(brokerId)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(leaderEpoch)
      .setPartitionEpoch(partitionEpoch)
      .setIsr(isr)
      .setReplicas(replicas)
      .setDirectories(DirectoryId.unassignedArray(replicas.length))
      .build()
    partition.makeLeader(registration, isNew = leaderEpoch == 0, offsetCheckpoints, topicId)
  }

  private def append(value: String): Unit = {
    val records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(value.getBytes))
    val local = RequestLocal.withThreadConfinedCaching
    partition.appendRecordsToLeader(records, origin = AppendOrigin.CLIENT, requiredAcks = -1, local)
  }

  private def fetch(leaderEpoch: Int, fetchOffset: Long): Unit = {
    val max = Int.MaxValue
    val epoch = Optional.of[Integer](leaderEpoch)
    val params =
      new FetchParams(follower, defaultBrokerEpoch(follower), 0, 1, max, FetchIsolation.LOG_END, Optional.empty())
    val request = new FetchRequest.PartitionData(Uuid.ZERO_UUID, fetchOffset, 0, max, epoch, Optional.empty())
    partition.fetchRecords(params, request, time.milliseconds(), max, minOneMessage = true, updateFetchState = true)
  }
}
