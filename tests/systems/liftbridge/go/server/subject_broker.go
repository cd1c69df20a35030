package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing/synctest"
	"time"

	client "github.com/liftbridge-io/liftbridge-api/go"

	"github.com/liftbridge-io/liftbridge/network"
	"github.com/liftbridge-io/liftbridge/server/commitlog"
	proto "github.com/liftbridge-io/liftbridge/server/protocol"
)

const (
	streamName = "s"
	never      = 10000 * time.Hour // a timer of this length never fires
)

// entry is an entry of a log or of a leader epoch cache.
type entry [2]any

// broker is a Liftbridge server without its Raft node. The adapter applies the committed Raft log to it, as Raft would.
type broker struct {
	name      string
	network   *network.Network
	settings  settings
	root      string // each start has its own directory in root
	starts    int
	srv       *Server          // nil while it is down
	disk      onDisk           // while it is down: the disk at the end of its process
	applied   int              // the number of applied entries of the Raft log
	recovered bool             // whether a restart has replayed these entries and the partition is not started yet
	applying  bool             // whether Raft's thread waits for the leader's response to a truncation request
	asked     *network.Message // the replication request whose response it waits for
	answer    *network.Message // the response in flight to it
	ledSince  time.Time
}

// onDisk is the state that a dead process leaves on its disk.
type onDisk struct {
	directory string
	log       []entry
	hw        int64
}

// start starts the server on an empty or copied directory. Raft and the API for clients are left out.
func (b *broker) start(directory string) {
	config := NewDefaultConfig()
	config.DataDir = directory
	config.LogSilent = !b.settings.verbose
	config.LogLevel = 5
	config.LogRecovery = true
	config.NATS.CustomDialer = network.Dialer{Network: b.network, Owner: b.name}
	config.NATS.Servers = []string{"nats://127.0.0.1:4222"}
	config.NATS.PingInterval = never
	config.NATS.AllowReconnect = false
	config.Clustering.ServerID = b.name
	config.Clustering.Namespace = "ns"
	config.Clustering.MinISR = b.settings.MinISR
	config.Clustering.ReplicaMaxLagTime = never
	config.Clustering.ReplicaMaxLeaderTimeout = never
	config.Clustering.ReplicaFetchTimeout = never
	config.Clustering.ReplicaMaxIdleWait = never
	config.Clustering.ReplicationMaxBytes = b.settings.bytesPerFetch()
	config.Streams.RetentionMaxAge = 0
	config.Streams.SegmentMaxAge = 0
	config.Streams.CleanerInterval = never
	srv := New(config)
	srv.api = &apiServer{srv}
	close(srv.raftInitialized) // Server.Stop must not wait for Raft, which does not run
	must(os.MkdirAll(directory, 0o755))
	must(srv.createNATSConns())
	_, err := srv.ncRepl.Subscribe(srv.getPartitionNotificationInbox(b.name), srv.handlePartitionNotification)
	must(err)
	b.srv = srv
}

// apply applies entries of the Raft log to the server's state machine, in order, as Raft's thread does.
func (b *broker) apply(log []decision, recovered bool) {
	b.onRaftsThread(func() {
		for _, each := range log {
			_, err := b.srv.apply(each.operation(), each.index, recovered)
			must(err)
		}
	})
	b.applied += len(log)
}

// finishRecovery starts the partition in the role that the last replayed entry gives it.
func (b *broker) finishRecovery(index uint64) {
	b.recovered = false
	b.onRaftsThread(func() {
		_, _, err := b.srv.finishedRecovery(index)
		must(err)
	})
}

// onRaftsThread runs a function that may wait for a response that the network holds. A request to the former leader
// then gets the response that there is no responder.
func (b *broker) onRaftsThread(what func()) {
	led, former := b.leads(), b.asked
	b.asked, b.answer, b.applying = nil, nil, true
	go func() {
		what()
		b.applying = false
	}()
	b.settle()
	if former != nil { // the replication loop checks only after a response whether it has to stop
		b.network.RefuseNoResponders(*former)
		b.settle()
	}
	if b.leads() && !led {
		b.ledSince = time.Now()
	}
}

// settle waits until all goroutines are blocked, and then stores the server's request. A server has one request at a
// time.
func (b *broker) settle() {
	synctest.Wait()
	for _, each := range b.network.Take(func(m network.Message) bool { return m.From == b.name && m.Reply != "" }) {
		b.asked = &each
	}
}

// receive delivers the response to the server's request.
func (b *broker) receive(answer network.Message) {
	b.asked, b.answer = nil, nil
	b.network.Deliver(answer, b.name)
	b.settle()
}

// learnOfNobody responds to the server's request that its subject has no subscribers.
func (b *broker) learnOfNobody() {
	asked := *b.asked
	b.asked, b.answer = nil, nil
	b.network.RefuseNoResponders(asked)
	b.settle()
}

// crash ends the process as SIGKILL does: the disk keeps its state.
func (b *broker) crash() {
	if !b.settings.AsynchronousCheckpoint {
		must(commitlog.Checkpoint(b.partition().log))
	}
	b.disk = onDisk{b.freshDirectory(), b.log(), b.checkpointed()}
	copyTree(b.srv.config.DataDir, b.disk.directory)
	b.stop()
}

// stop shuts the server down, and deletes its directory.
func (b *broker) stop() {
	if b.srv == nil {
		return
	}
	for b.applying {
		b.learnOfNobody()
	}
	must(b.srv.Stop())
	must(os.RemoveAll(b.srv.config.DataDir))
	b.srv, b.asked, b.answer = nil, nil, nil
}

// restart starts the server on the disk of its dead process, and replays the Raft log up to its present end.
func (b *broker) restart(log []decision) {
	b.start(b.disk.directory)
	b.applied, b.recovered = 0, true
	b.apply(log, true)
}

func (b *broker) freshDirectory() string {
	b.starts++
	return filepath.Join(b.root, fmt.Sprintf("%s-%d", b.name, b.starts))
}

// partition returns the server's only partition. This function and the functions below take no lock, because all
// goroutines are blocked, and Raft's thread may hold the lock.
func (b *broker) partition() *partition {
	stream := b.srv.metadata.streams[streamName]
	if stream == nil {
		return nil
	}
	return stream.partitions[0]
}

func (b *broker) isUp() bool {
	return b.srv != nil
}

// leads returns whether it believes that it leads.
func (b *broker) leads() bool {
	return b.isUp() && b.partition() != nil && b.partition().isLeading
}

func (b *broker) follows() bool {
	return b.isUp() && b.partition().isFollowing
}

// knows returns whether it has applied a decision: the leader, and the index of the Raft entry that elected it.
func (b *broker) knows(d decision) bool {
	return b.isUp() && !b.recovered && b.partition().Leader == d.leader && b.partition().LeaderEpoch == d.epochIndex
}

// log returns the records and their leader epochs by offset, as a reader of uncommitted messages sees them.
func (b *broker) log() []entry {
	log, entries := b.partition().log, []entry{}
	newest := log.NewestOffset()
	if newest < 0 {
		return entries
	}
	reader, err := log.NewReader(log.OldestOffset(), true)
	must(err)
	headers := make([]byte, 28)
	for offset := int64(-1); offset < newest; {
		var message commitlog.SerializedMessage
		var epoch uint64
		message, offset, _, epoch, err = reader.ReadMessage(context.Background(), headers)
		must(err)
		entries = append(entries, entry{strings.TrimSpace(string(message.Value())), epoch})
	}
	return entries
}

// checkpointed returns the high watermark on disk in Kafka's terms: the last committed offset plus one.
func (b *broker) checkpointed() int64 {
	text, err := os.ReadFile(filepath.Join(b.srv.config.DataDir, "streams", streamName, "0", "replication-offset-checkpoint"))
	if os.IsNotExist(err) {
		return 0
	}
	must(err)
	var hw int64
	_, err = fmt.Sscan(string(text), &hw)
	must(err)
	return hw + 1
}

// publish delivers a producer's message to this server only, although other servers may have subscribed to the stream's
// subject.
func (b *broker) publish(record int, acks client.AckPolicy) {
	name := fmt.Sprintf("m%d", record)
	data, err := proto.MarshalPublish(&client.Message{
		Value:     fmt.Appendf(nil, "%-*s", valueSize, name),
		AckInbox:  ackInbox + name,
		AckPolicy: acks,
	})
	must(err)
	b.network.Deliver(network.Message{Subject: streamName, Data: data}, b.name)
	b.settle()
}

// wake tells an idle follower that its leader has new messages. By itself, the follower would fetch after
// ReplicaMaxIdleWait.
func (b *broker) wake() {
	data, err := proto.MarshalPartitionNotification(&proto.PartitionNotification{Stream: streamName})
	must(err)
	b.network.Deliver(network.Message{Subject: b.srv.getPartitionNotificationInbox(b.name), Data: data}, b.name)
	b.settle()
}

func copyTree(from, to string) {
	must(filepath.WalkDir(from, func(path string, each os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if each.IsDir() {
			return os.MkdirAll(filepath.Join(to, relative), 0o755)
		}
		return copyFile(path, filepath.Join(to, relative))
	}))
}

// copyFile copies a file without its trailing zeros, and then extends the copy to the same size. An index file has ten
// megabytes of zeros, because it is memory-mapped.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, []byte(strings.TrimRight(string(data), "\x00")), 0o644); err != nil {
		return err
	}
	return os.Truncate(to, int64(len(data)))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
