package kafka.cluster

import java.lang.{Long => JLong}
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
import org.junit.jupiter.api.{BeforeEach, Test}
import org.mockito.Mockito.when

/**
 * A broker that is not registered fetches with the broker epoch -1. The leader must not propose a follower for the ISR
 * because of such a fetch. The tests extend the base class of PartitionTest, and can be copied into PartitionTest.
 */
class FetchBeforeRegistrationTest extends AbstractPartitionTest {
  private val follower = remoteReplicaId
  private val replicas = Array(brokerId, follower)
  private val notRegistered = -1L

  @BeforeEach
  def leadWithRecord(): Unit = {
    when(metadataCache.getAliveBrokerEpoch(follower)).thenReturn(Optional.of[JLong](defaultBrokerEpoch(follower)))
    partition.createLogIfNotExists(isNew = true, isFutureReplica = false, offsetCheckpoints, topicId)
    assertTrue(makeLeader(isr = Array(brokerId)))
    append("m")
    assertEquals(1, partition.localLogOrException.highWatermark)
  }

  @Test
  def testIsrNotExpandedByFetchBeforeRegistration(): Unit = {
    // The follower has restarted. The session of its previous process is valid, so the controller rejects the
    // registration of the new process, and the metadata cache has the broker epoch of the previous process.
    fetch(fetchOffset = 0, notRegistered)
    fetch(fetchOffset = 1, notRegistered)
    assertEquals(0, alterPartitionManager.isrUpdates.size, "the process that has the record is not registered")
  }

  @Test
  def testIsrNotExpandedByLateFetchFromBeforeRegistration(): Unit = {
    // A process that has lost the record is registered and fetches from offset 0. A fetch that the previous,
    // unregistered process has sent arrives late.
    fetch(fetchOffset = 0, defaultBrokerEpoch(follower))
    fetch(fetchOffset = 1, notRegistered)
    assertEquals(0, alterPartitionManager.isrUpdates.size, "the registered process does not have the record")
  }

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

  private def fetch(fetchOffset: Long, brokerEpoch: Long): Unit = {
    val max = Int.MaxValue
    val params = new FetchParams(follower, brokerEpoch, 0, 1, max, FetchIsolation.LOG_END, Optional.empty())
    val request =
      new FetchRequest.PartitionData(Uuid.ZERO_UUID, fetchOffset, 0, max, Optional.of[Integer](0), Optional.empty())
    partition.fetchRecords(params, request, time.milliseconds(), max, minOneMessage = true, updateFetchState = true)
  }
}
