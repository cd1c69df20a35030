package server

import (
	"context"
	"os"
	"testing"
	"time"

	natsdTest "github.com/nats-io/nats-server/v2/test"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	client "github.com/liftbridge-io/liftbridge-api/go"
	"github.com/liftbridge-io/liftbridge/server/commitlog"
	proto "github.com/liftbridge-io/liftbridge/server/protocol"
)

// lossServer returns a server that is connected to NATS. It has no Raft node:
// the test decides when the server learns of a leader change.
func lossServer(t *testing.T, id string) *Server {
	config := NewDefaultConfig()
	config.DataDir = t.TempDir()
	config.LogSilent = true
	config.Clustering.ServerID = id
	config.Clustering.MinISR = 2
	config.Clustering.ReplicaMaxIdleWait = 2 * time.Second
	server := New(config)
	server.api = &apiServer{server}
	require.NoError(t, server.createNATSConns())
	t.Cleanup(server.closeNATSConns)
	return server
}

// lossPartition returns a server's replica of a partition.
func lossPartition(t *testing.T, server *Server, replicas ...string) *partition {
	p, err := server.newPartition(&proto.Partition{
		Subject:  "foo",
		Stream:   "foo",
		Replicas: append([]string{}, replicas...),
		Isr:      append([]string{}, replicas...),
	}, false, nil)
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

// lossConn runs a NATS server, and returns a connection to it.
func lossConn(t *testing.T) *nats.Conn {
	ns := natsdTest.RunDefaultServer()
	t.Cleanup(ns.Shutdown)
	nc, err := nats.GetDefaultOptions().Connect()
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// publishForLoss sends a message with AckPolicy_ALL, and returns its ack inbox.
func publishForLoss(t *testing.T, nc *nats.Conn, value string) *nats.Subscription {
	acks, err := nc.SubscribeSync("ack." + value)
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	data, err := proto.MarshalPublish(&client.Message{
		Value:     []byte(value),
		AckInbox:  "ack." + value,
		AckPolicy: client.AckPolicy_ALL,
	})
	require.NoError(t, err)
	require.NoError(t, nc.Publish("foo", data))
	require.NoError(t, nc.Flush())
	return acks
}

// fetchAs sends a follower's replication request. The response does not reach
// the follower.
func fetchAs(t *testing.T, nc *nats.Conn, leader *partition, follower string, offset int64) {
	_, epoch := leader.GetLeader()
	data, err := proto.MarshalReplicationRequest(&proto.ReplicationRequest{
		ReplicaID:   follower,
		Offset:      offset,
		LeaderEpoch: epoch,
	})
	require.NoError(t, err)
	_, err = nc.Request(leader.getReplicationRequestInbox(), data, 5*time.Second)
	require.NoError(t, err)
}

func waitForNewest(t *testing.T, p *partition, offset int64) {
	require.Eventually(t, func() bool { return p.log.NewestOffset() == offset }, 5*time.Second, 10*time.Millisecond)
}

func waitForHighWatermark(t *testing.T, p *partition, hw int64) {
	require.Eventually(t, func() bool { return p.log.HighWatermark() == hw }, 5*time.Second, 10*time.Millisecond)
}

// logValues returns the values of all messages in a replica's log.
func logValues(t *testing.T, p *partition) []string {
	values := []string{}
	newest := p.log.NewestOffset()
	if newest < 0 {
		return values
	}
	reader, err := p.log.NewReader(p.log.OldestOffset(), true)
	require.NoError(t, err)
	headers := make([]byte, 28)
	for offset := int64(-1); offset < newest; {
		var message commitlog.SerializedMessage
		message, offset, _, _, err = reader.ReadMessage(context.Background(), headers)
		require.NoError(t, err)
		values = append(values, string(message.Value()))
	}
	return values
}

// Ensure a leader whose log was empty at the start of its epoch tells a
// follower to truncate the messages of earlier epochs.
func TestTruncateToLeaderWithEmptyLog(t *testing.T) {
	nc := lossConn(t)
	a := lossPartition(t, lossServer(t, "a"), "a", "b")
	b := lossPartition(t, lossServer(t, "b"), "a", "b")

	// a leads, and b has not copied m0.
	require.NoError(t, a.SetLeader("a", 1))
	publishForLoss(t, nc, "m0")
	waitForNewest(t, a, 0)

	// b is elected, and a does not know it yet. Both append m1.
	require.NoError(t, b.SetLeader("b", 2))
	acks := publishForLoss(t, nc, "m1")
	waitForNewest(t, b, 0)

	// a follows b, truncates its log, and fetches.
	require.NoError(t, a.SetLeader("b", 2))
	_, err := acks.NextMsg(5 * time.Second)
	require.NoError(t, err)

	// a is in the ISR, and is elected.
	require.NoError(t, a.SetLeader("a", 3))
	require.Equal(t, []string{"m1"}, logValues(t, a),
		"m1 is lost: AckPolicy_ALL acknowledged m1, and the new leader is in the ISR")
}

// Ensure a leader that was a follower in an epoch tells a follower where the
// epoch before ended.
func TestTruncateToFormerFollower(t *testing.T) {
	nc := lossConn(t)
	serverA := lossServer(t, "a")
	a := lossPartition(t, serverA, "a", "b", "c")
	b := lossPartition(t, lossServer(t, "b"), "a", "b", "c")
	c := lossPartition(t, lossServer(t, "c"), "a", "b", "c")

	// b and c copy m0 from a. a then appends m1, and stops.
	require.NoError(t, a.SetLeader("a", 1))
	publishForLoss(t, nc, "m0")
	waitForNewest(t, a, 0)
	for _, p := range []*partition{b, c} {
		require.NoError(t, p.SetLeader("a", 1))
		waitForNewest(t, p, 0)
	}
	a.pauseReplication()
	publishForLoss(t, nc, "m1")
	waitForNewest(t, a, 1)
	require.NoError(t, a.Close())

	// c leads without a. b copies m2, which is acknowledged.
	require.NoError(t, c.RemoveFromISR("a"))
	require.NoError(t, c.SetLeader("c", 2))
	require.NoError(t, b.SetLeader("c", 2))
	acks := publishForLoss(t, nc, "m2")
	_, err := acks.NextMsg(5 * time.Second)
	require.NoError(t, err)
	require.Equal(t, []string{"m0", "m2"}, logValues(t, b))

	// b leads. a starts again, truncates its log, and fetches.
	require.NoError(t, b.SetLeader("b", 3))
	a = lossPartition(t, serverA, "a", "b", "c")
	require.NoError(t, a.SetLeader("b", 3))
	time.Sleep(time.Second)
	require.Equal(t, logValues(t, b), logValues(t, a),
		"m2 is lost if a is elected: AckPolicy_ALL acknowledged m2, and a keeps m1 at the offset of m2")
}

// Ensure a leader adds a replica to the ISR only if the replica has all
// committed messages.
func TestExpandISRReplicaHasCommittedMessages(t *testing.T) {
	config := getTestConfig("a", true, 5050)
	_ = os.RemoveAll(config.DataDir)
	config.Clustering.MinISR = 2
	config.Clustering.ReplicaMaxLagTime = 2 * time.Second
	server := runServerWithConfig(t, config)
	defer server.Stop()
	getMetadataLeader(t, 10*time.Second, server)
	nc, err := nats.GetDefaultOptions().Connect()
	require.NoError(t, err)
	defer nc.Close()

	// a leads, and c is in the ISR. b is not in the ISR.
	future, err := server.getRaft().applyOperation(context.Background(), &proto.RaftLog{
		Op: proto.Op_CREATE_STREAM,
		CreateStreamOp: &proto.CreateStreamOp{Stream: &proto.Stream{
			Name:    "foo",
			Subject: "foo",
			Config:  &proto.StreamConfig{},
			Partitions: []*proto.Partition{{
				Subject:           "foo",
				Stream:            "foo",
				ReplicationFactor: 3,
				Replicas:          []string{"a", "b", "c"},
				Leader:            "a",
				Isr:               []string{"a", "c"},
			}},
		}},
	}, nil)
	require.NoError(t, err)
	require.NoError(t, future.Error())
	p := server.metadata.GetPartition("foo", 0)
	require.NotNil(t, p)

	// b reaches the end of the log, which is empty. a and c then commit m0.
	time.Sleep(time.Second)
	fetchAs(t, nc, p, "b", -1)
	acks := publishForLoss(t, nc, "m0")
	waitForNewest(t, p, 0)
	fetchAs(t, nc, p, "c", -1)
	fetchAs(t, nc, p, "c", 0)
	_, err = acks.NextMsg(5 * time.Second)
	require.NoError(t, err)

	// b does not fetch again until a adds b to the ISR.
	for deadline := time.Now().Add(6 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		require.NotContains(t, p.GetISR(), "b",
			"m0 is lost if b is elected: AckPolicy_ALL acknowledged m0, and b is in the ISR without m0")
	}
}

// Ensure a leader that is elected again waits for followers that have
// truncated their logs.
func TestLeaderForgetsFollowerOffsetsOfEarlierEpoch(t *testing.T) {
	nc := lossConn(t)
	a := lossPartition(t, lossServer(t, "a"), "a", "b", "c")

	// a leads. b has m0 and m1, and c has m0.
	require.NoError(t, a.SetLeader("a", 1))
	publishForLoss(t, nc, "m0")
	publishForLoss(t, nc, "m1")
	waitForNewest(t, a, 1)
	fetchAs(t, nc, a, "b", 1)
	fetchAs(t, nc, a, "c", 0)

	// c leads. a and b truncate m1.
	sub, err := nc.Subscribe(a.getLeaderOffsetRequestInbox(), func(msg *nats.Msg) {
		response, err := proto.MarshalLeaderEpochOffsetResponse(&proto.LeaderEpochOffsetResponse{EndOffset: 0})
		if err == nil {
			msg.Respond(response)
		}
	})
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	require.NoError(t, a.SetLeader("c", 2))
	require.Equal(t, []string{"m0"}, logValues(t, a))
	require.NoError(t, sub.Unsubscribe())

	// a leads again, and c leaves the ISR. b has not fetched in this epoch.
	require.NoError(t, a.SetLeader("a", 3))
	acks := publishForLoss(t, nc, "m2")
	waitForNewest(t, a, 1)
	require.NoError(t, a.RemoveFromISR("c"))
	_, err = acks.NextMsg(3 * time.Second)
	require.Equal(t, nats.ErrTimeout, err,
		"m2 is lost if b is elected: AckPolicy_ALL acknowledged m2, and b in the ISR has only m0")
}

// Ensure a follower keeps a committed message if no leader responds.
func TestTruncateWithoutLeaderKeepsCommittedMessage(t *testing.T) {
	nc := lossConn(t)
	a := lossPartition(t, lossServer(t, "a"), "a", "b")
	b := lossPartition(t, lossServer(t, "b"), "a", "b")

	// a leads and commits m0. b has m0, and does not know that m0 is committed.
	require.NoError(t, a.SetLeader("a", 1))
	acks := publishForLoss(t, nc, "m0")
	waitForNewest(t, a, 0)
	require.NoError(t, b.SetLeader("a", 1))
	_, err := acks.NextMsg(5 * time.Second)
	require.NoError(t, err)
	waitForHighWatermark(t, b, 0)
	require.NoError(t, a.Close())
	b.log.OverrideHighWatermark(-1)
	require.Equal(t, []string{"m0"}, logValues(t, b))

	// a is elected again. b learns this before a starts to lead.
	require.NoError(t, b.SetLeader("a", 3))

	// b is in the ISR, and is elected.
	require.NoError(t, b.SetLeader("b", 4))
	require.Equal(t, []string{"m0"}, logValues(t, b),
		"m0 is lost: AckPolicy_ALL acknowledged m0, and the new leader is in the ISR")
}
