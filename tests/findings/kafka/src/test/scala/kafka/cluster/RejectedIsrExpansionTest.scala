package kafka.cluster

import java.lang.{Long => JLong}
import java.util.{Optional, Set => JSet}
import org.apache.kafka.common.{DirectoryId, Uuid}
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.protocol.Errors
import org.apache.kafka.common.record.internal.{MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.metadata.{LeaderRecoveryState, PartitionRegistration}
import org.apache.kafka.server.common.RequestLocal
import org.apache.kafka.server.storage.log.{FetchIsolation, FetchParams}
import org.apache.kafka.storage.internals.log.AppendOrigin
import org.junit.jupiter.api.Assertions.{assertEquals, assertTrue}
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import org.mockito.Mockito.when

/**
 * A leader must compute the high watermark again after the controller has rejected an ISR expansion. The test extends
 * the base class of PartitionTest, and can be copied into PartitionTest.
 */
class RejectedIsrExpansionTest extends AbstractPartitionTest {
  private val follower = remoteReplicaId
  private val replicas = Array(brokerId, follower)

  @ParameterizedTest
  @EnumSource(value = classOf[Errors], names = Array("INELIGIBLE_REPLICA", "OPERATION_NOT_ATTEMPTED"))
  def testHighWatermarkAdvancesAfterIsrExpansionIsRejected(error: Errors): Unit = {
    when(metadataCache.getAliveBrokerEpoch(follower)).thenReturn(Optional.of[JLong](defaultBrokerEpoch(follower)))
    partition.createLogIfNotExists(isNew = true, isFutureReplica = false, offsetCheckpoints, topicId)
    assertTrue(makeLeader(isr = Array(brokerId)))

    // The follower has caught up, so the leader proposes it for the ISR.
    fetch(fetchOffset = 0)
    assertEquals(JSet.of(brokerId, follower), partition.partitionState.maximalIsr)
    append("m")
    assertEquals(0, highWatermark, "the follower is in the proposed ISR, and has not fetched the record")

    // The controller has fenced the follower, and rejects the proposal.
    when(metadataCache.isBrokerFenced(follower)).thenReturn(true)
    alterPartitionManager.failIsrUpdate(error)
    assertEquals(JSet.of(brokerId), partition.partitionState.maximalIsr)
    assertEquals(1, highWatermark, "the leader is the only member of the ISR, and has the record")
  }

  private def highWatermark: Long = partition.localLogOrException.highWatermark

  private def makeLeader(isr: Array[Int]): Boolean = {
    val registration = new PartitionRegistration.Builder()
      .setLeader(brokerId)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(0)
      .setPartitionEpoch(1)
      .setIsr(isr)
      .setReplicas(replicas)
      .setDirectories(DirectoryId.unassignedArray(replicas.length))
      .build()
    partition.makeLeader(registration, isNew = true, offsetCheckpoints, topicId)
  }

  private def append(value: String): Unit = {
    val records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(value.getBytes))
    val local = RequestLocal.withThreadConfinedCaching
    partition.appendRecordsToLeader(records, origin = AppendOrigin.CLIENT, requiredAcks = -1, local)
  }

  private def fetch(fetchOffset: Long): Unit = {
    val max = Int.MaxValue
    val params =
      new FetchParams(follower, defaultBrokerEpoch(follower), 0, 1, max, FetchIsolation.LOG_END, Optional.empty())
    val request =
      new FetchRequest.PartitionData(Uuid.ZERO_UUID, fetchOffset, 0, max, Optional.of[Integer](0), Optional.empty())
    partition.fetchRecords(params, request, time.milliseconds(), max, minOneMessage = true, updateFetchState = true)
  }
}
