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
	never      = 10000 * time.Hour // nothing of what waits for so long happens by itself
)

// entry is one of what a log or a leader epoch cache shows.
type entry [2]any

// broker is a Liftbridge server without its Raft node: whoever holds it applies the log of Raft, as Raft would.
type broker struct {
	name      string
	network   *network.Network
	settings  settings
	root      string // below it each start has a directory of its own
	starts    int
	srv       *Server          // nil while it is down
	disk      onDisk           // while it is down: what it died with
	applied   int              // how many entries of Raft's log
	recovered bool             // whether these were replayed by a restart, and its partition waits to be started
	applying  bool             // whether Raft's thread is still with the last one: it waits for the leader to say where to truncate
	asked     *network.Message // the replication request that it waits for an answer to
	answer    *network.Message // in flight to it
	ledSince  time.Time
}

// onDisk is what a process leaves behind.
type onDisk struct {
	directory string
	log       []entry
	hw        int64
}

// start starts the server on a directory, empty or copied, with all but Raft and the API for clients.
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
	close(srv.raftInitialized) // there is none: Server.Stop does not wait for it
	must(os.MkdirAll(directory, 0o755))
	must(srv.createNATSConns())
	_, err := srv.ncRepl.Subscribe(srv.getPartitionNotificationInbox(b.name), srv.handlePartitionNotification)
	must(err)
	b.srv = srv
}

// apply hands entries of Raft's log to the server's state machine, in order, as Raft's thread does.
func (b *broker) apply(log []decision, recovered bool) {
	b.onRaftsThread(func() {
		for _, each := range log {
			_, err := b.srv.apply(each.operation(), each.index, recovered)
			must(err)
		}
	})
	b.applied += len(log)
}

// finishRecovery starts the partition in the role that the last entry replayed gives it.
func (b *broker) finishRecovery(index uint64) {
	b.recovered = false
	b.onRaftsThread(func() {
		_, _, err := b.srv.finishedRecovery(index)
		must(err)
	})
}

// onRaftsThread runs what may wait for an answer that is held, and ends what was under way to a former leader.
func (b *broker) onRaftsThread(what func()) {
	led, former := b.leads(), b.asked
	b.asked, b.answer, b.applying = nil, nil, true
	go func() {
		what()
		b.applying = false
	}()
	b.settle()
	if former != nil { // its loop has been told to stop, and looks when it has an answer
		b.network.RefuseNoResponders(*former)
		b.settle()
	}
	if b.leads() && !led {
		b.ledSince = time.Now()
	}
}

// settle waits until nobody runs, and finds what the server asks for then: it is one thing at a time.
func (b *broker) settle() {
	synctest.Wait()
	for _, each := range b.network.Take(func(m network.Message) bool { return m.From == b.name && m.Reply != "" }) {
		b.asked = &each
	}
}

// receive delivers an answer to what it has asked.
func (b *broker) receive(answer network.Message) {
	b.asked, b.answer = nil, nil
	b.network.Deliver(answer, b.name)
	b.settle()
}

// learnOfNobody delivers in place of an answer that nobody has subscribed to what it has asked.
func (b *broker) learnOfNobody() {
	asked := *b.asked
	b.asked, b.answer = nil, nil
	b.network.RefuseNoResponders(asked)
	b.settle()
}

// crash ends the process as SIGKILL does: what is on disk stays as it is.
func (b *broker) crash() {
	if !b.settings.AsynchronousCheckpoint {
		must(commitlog.Checkpoint(b.partition().log))
	}
	b.disk = onDisk{b.freshDirectory(), b.log(), b.checkpointed()}
	copyTree(b.srv.config.DataDir, b.disk.directory)
	b.stop()
}

// stop ends the server in good order, on a directory that nobody reads again.
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

// restart starts the server on what it died with, and replays Raft's log up to what is committed now.
func (b *broker) restart(log []decision) {
	b.start(b.disk.directory)
	b.applied, b.recovered = 0, true
	b.apply(log, true)
}

func (b *broker) freshDirectory() string {
	b.starts++
	return filepath.Join(b.root, fmt.Sprintf("%s-%d", b.name, b.starts))
}

// partition is its one partition. No lock is taken, here and below: nobody runs, and Raft's thread may hold it.
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

// leads says whether it presumes leadership.
func (b *broker) leads() bool {
	return b.isUp() && b.partition() != nil && b.partition().isLeading
}

func (b *broker) follows() bool {
	return b.isUp() && b.partition().isFollowing
}

// knows says whether it has obeyed a decision: who leads, since which entry of Raft's log.
func (b *broker) knows(d decision) bool {
	return b.isUp() && !b.recovered && b.partition().Leader == d.leader && b.partition().LeaderEpoch == d.epochIndex
}

// log is what a reader of uncommitted messages reads: record and leader epoch, by offset.
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

// checkpointed is the high watermark on disk, as Kafka counts: one more than the last offset that is committed.
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

// publish hands a producer's message to it, and to nobody else that has subscribed to the stream's subject.
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

// wake tells a follower that is idle that there is something to fetch; it would ask by itself, after a while.
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

// copyFile leaves out the zeros at the end, and has them again: an index is mapped with ten megabytes of them.
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
