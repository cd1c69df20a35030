package server

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	client "github.com/liftbridge-io/liftbridge-api/go"

	"github.com/liftbridge-io/liftbridge/network"
	"github.com/liftbridge-io/liftbridge/server/commitlog"
	proto "github.com/liftbridge-io/liftbridge/server/protocol"
)

const (
	names     = "ABCDE"
	valueSize = 64
	ackInbox  = "acks."
	namespace = "ns."
)

// settings are the settings of a reset request.
type settings struct {
	Replicas               int    `json:"replicas"`
	Acks                   string `json:"acks"`
	MinISR                 int    `json:"min_insync_replicas"`
	AsynchronousCheckpoint bool   `json:"asynchronous_checkpoint"`
	RecordsPerFetch        int    `json:"records_per_fetch"`
	verbose                bool
}

// settingsOf parses a reset request. If the adapter does not support a setting, lack says which one.
func settingsOf(reset *request) (chosen settings, lack string) {
	for setting, plain := range map[string]any{
		"retries": false, "consumer": false, "transactions": false, "controllers": 1.0, "power_loss": false,
		"unclean_leader_election": false, "lag_time": false, "delayed_fetch": false,
	} {
		if given, ok := reset.Config[setting]; ok && given != plain {
			return chosen, "the adapter for Liftbridge does not support the setting " + setting + "; reset without it"
		}
	}
	text, err := json.Marshal(reset.Config)
	must(err)
	must(json.Unmarshal(text, &chosen))
	chosen.verbose = os.Getenv("LIFTBRIDGE_LOG") != ""
	return chosen, ""
}

// bytesPerFetch returns a limit that admits RecordsPerFetch messages of valueSize, but not one more.
func (s settings) bytesPerFetch() int64 {
	const envelope, message = 24, 28 + valueSize + 60
	return int64(envelope + s.RecordsPerFetch*message + message/2)
}

// decision is an entry of the Raft log with the state that results from it: the leader, its epoch and the ISR.
type decision struct {
	index      uint64
	leader     string
	epochIndex uint64 // the index of the entry that elected the leader: Liftbridge's leader epoch
	epoch      int    // the leader epoch, counted from 0
	isr        []string
	operation  func() *proto.RaftLog
}

// cluster has the brokers of one partition, the committed Raft log, and the producer.
type cluster struct {
	settings     settings
	root         string
	network      *network.Network
	brokers      map[string]*broker
	names        []string
	raft         []decision
	produced     int
	acknowledged []string
}

func newCluster(s settings, root string) *cluster {
	c := &cluster{settings: s, root: root, network: &network.Network{}, brokers: map[string]*broker{}, acknowledged: []string{}}
	c.names = strings.Split(names[:s.Replicas], "")
	c.raft = []decision{{
		index: 1, leader: "A", epochIndex: 1, isr: slices.Clone(c.names),
		operation: func() *proto.RaftLog {
			return &proto.RaftLog{Op: proto.Op_CREATE_STREAM, CreateStreamOp: &proto.CreateStreamOp{Stream: &proto.Stream{
				Name: streamName, Subject: streamName, Config: &proto.StreamConfig{},
				Partitions: []*proto.Partition{{
					Stream: streamName, Subject: streamName, ReplicationFactor: int32(s.Replicas), Leader: "A",
					Replicas: slices.Clone(c.names), Isr: slices.Clone(c.names),
				}},
			}}}
		},
	}}
	for _, name := range c.names {
		b := &broker{name: name, network: c.network, settings: s, root: root}
		c.brokers[name] = b
		b.start(b.freshDirectory())
		b.apply(c.raft, false)
	}
	for _, name := range c.names { // each follower finishes its truncation, which removes nothing from the empty log
		for c.brokers[name].applying {
			c.fetch(name)
			c.receive(name)
		}
	}
	return c
}

func (c *cluster) close() {
	for _, name := range c.names {
		c.brokers[name].stop()
	}
	must(os.RemoveAll(c.root))
}

func (c *cluster) current() decision {
	return c.raft[len(c.raft)-1]
}

// verbs returns the supported events. Each function returns whether the event was applied.
func (c *cluster) verbs() map[string]func(string) bool {
	return map[string]func(string) bool{
		"produce": c.produce, "fetch": c.fetch, "receive": c.receive, "drop": c.drop, "crash": c.crash,
		"restart": c.restart, "notify": c.notify, "elect": c.elect, "shrink": c.shrink, "expand": c.expand,
		"checkpoint": c.checkpoint,
	}
}

func (c *cluster) events() []string {
	return slices.Sorted(maps.Keys(c.verbs()))
}

// apply applies an event, one millisecond after the previous event. It returns whether the event was applied.
func (c *cluster) apply(event string) bool {
	time.Sleep(time.Millisecond)
	verb, name, _ := strings.Cut(event, " ")
	applied := c.verbs()[verb](name)
	c.noteAcknowledgements()
	c.network.Take(func(m network.Message) bool { return m.Reply == "" && strings.HasPrefix(m.Subject, namespace) })
	return applied
}

func (c *cluster) produce(name string) bool {
	b := c.brokers[name]
	if !b.leads() {
		return false
	}
	policy := map[string]client.AckPolicy{
		"0": client.AckPolicy_NONE, "1": client.AckPolicy_LEADER, "all": client.AckPolicy_ALL,
	}[c.settings.Acks]
	b.publish(c.produced, policy)
	c.produced++
	return true
}

// fetch delivers a follower's request. A truncation request goes to one broker that believes it leads, and a
// replication request goes to the follower's leader.
func (c *cluster) fetch(name string) bool {
	f := c.brokers[name]
	if !f.isUp() || f.answer != nil {
		return false
	}
	if f.applying {
		return c.askWhereToTruncate(f)
	}
	leader := c.brokers[f.partition().Leader]
	if !f.follows() || !leader.leads() || leader.partition().LeaderEpoch != f.partition().LeaderEpoch {
		return false
	}
	if f.asked == nil {
		f.wake()
	}
	c.ask(f, leader.name)
	return true
}

// askWhereToTruncate delivers a truncation request to one subscriber. Liftbridge's subject for this request names no
// leader, so every broker that believes it leads has subscribed.
func (c *cluster) askWhereToTruncate(f *broker) bool {
	subscribers := c.network.Subscribers(f.asked.Subject)
	switch leader := f.partition().Leader; {
	case len(subscribers) == 0:
		f.learnOfNobody()
	case slices.Contains(subscribers, leader):
		c.ask(f, leader) // other responses would arrive later
	default:
		c.ask(f, subscribers[0])
	}
	return true
}

// ask delivers a follower's request, and keeps the response in flight.
func (c *cluster) ask(f *broker, leader string) {
	c.network.Deliver(*f.asked, leader)
	synctest.Wait()
	for _, each := range c.network.Take(func(m network.Message) bool { return m.Subject == f.asked.Reply }) {
		f.answer = &each
	}
	if f.answer == nil {
		panic(leader + " has not responded")
	}
}

func (c *cluster) receive(name string) bool {
	f := c.brokers[name]
	if !f.isUp() || f.answer == nil {
		return false
	}
	f.receive(*f.answer)
	return true
}

// drop loses the response. After its time-out, the follower sends the same request again.
func (c *cluster) drop(name string) bool {
	f := c.brokers[name]
	if !f.isUp() || f.answer == nil {
		return false
	}
	f.answer = nil
	return true
}

func (c *cluster) crash(name string) bool {
	b := c.brokers[name]
	if !b.isUp() {
		return false
	}
	b.crash()
	return true
}

func (c *cluster) restart(name string) bool {
	b := c.brokers[name]
	if b.isUp() {
		return false
	}
	b.restart(c.raft)
	return true
}

// notify applies the committed Raft log up to the next leader change. After a restart, it first starts the partition.
func (c *cluster) notify(name string) bool {
	b := c.brokers[name]
	if !b.isUp() || b.applying {
		return false
	}
	if b.recovered {
		b.finishRecovery(c.raft[b.applied-1].index)
		return true
	}
	for next := b.applied; next < len(c.raft); next++ {
		if c.raft[next].epochIndex == c.raft[next].index {
			b.apply(c.raft[b.applied:next+1], false)
			return true
		}
	}
	return false
}

// elect elects a member of the ISR, after enough followers have reported the leader. Liftbridge picks any member, and
// the event names one.
func (c *cluster) elect(name string) bool {
	now := c.current()
	if name == now.leader || !slices.Contains(now.isr, name) || !c.brokers[name].isUp() || !c.isReported() {
		return false
	}
	c.commit(decision{leader: name, isr: now.isr, operation: func() *proto.RaftLog {
		return &proto.RaftLog{Op: proto.Op_CHANGE_LEADER, ChangeLeaderOp: &proto.ChangeLeaderOp{
			Stream: streamName, Leader: name,
		}}
	}})
	return true
}

// isReported returns whether enough replicas follow the leader to report it. Liftbridge requires more reports than its
// Quorum.
func (c *cluster) isReported() bool {
	now, witnesses := c.current(), 0
	for _, b := range c.brokers {
		if b.knows(now) && b.follows() {
			witnesses++
		}
	}
	return witnesses > (len(now.isr)-1)/2
}

// commit appends an entry to the Raft log. A new leader starts a new leader epoch.
func (c *cluster) commit(d decision) {
	before := c.current()
	d.index = before.index + 1
	d.epochIndex, d.epoch = before.epochIndex, before.epoch
	if d.leader != before.leader {
		d.epochIndex, d.epoch = d.index, before.epoch+1
	}
	c.raft = append(c.raft, d)
}

// shrink lets the leader remove a follower that has lagged for too long.
func (c *cluster) shrink(name string) bool {
	now := c.current()
	leader := c.brokers[now.leader]
	if name == now.leader || !slices.Contains(now.isr, name) || !leader.leads() || !leader.knows(now) {
		return false
	}
	isr := slices.DeleteFunc(slices.Clone(now.isr), func(each string) bool { return each == name })
	c.commit(decision{leader: now.leader, isr: isr, operation: func() *proto.RaftLog {
		return &proto.RaftLog{Op: proto.Op_SHRINK_ISR, ShrinkISROp: &proto.ShrinkISROp{
			Stream: streamName, ReplicaToRemove: name, Leader: now.leader, LeaderEpoch: now.epochIndex,
		}}
	}})
	leader.apply(c.raft[leader.applied:], false)
	return true
}

// expand lets the leader add a follower to the ISR that has reached the end of the log in this leadership.
func (c *cluster) expand(name string) bool {
	now := c.current()
	leader := c.brokers[now.leader]
	if slices.Contains(now.isr, name) || !leader.leads() || !leader.knows(now) {
		return false
	}
	if !leader.partition().replicators[name].lastCaughtUp.After(leader.ledSince) {
		return false
	}
	c.commit(decision{leader: now.leader, isr: append(slices.Clone(now.isr), name), operation: func() *proto.RaftLog {
		return &proto.RaftLog{Op: proto.Op_EXPAND_ISR, ExpandISROp: &proto.ExpandISROp{
			Stream: streamName, ReplicaToAdd: name, Leader: now.leader, LeaderEpoch: now.epochIndex,
		}}
	}})
	leader.apply(c.raft[leader.applied:], false)
	return true
}

func (c *cluster) checkpoint(name string) bool {
	b := c.brokers[name]
	if !c.settings.AsynchronousCheckpoint || !b.isUp() || b.checkpointed() == b.partition().log.HighWatermark()+1 {
		return false
	}
	must(commitlog.Checkpoint(b.partition().log))
	return true
}

// noteAcknowledgements collects the acknowledgements that producers receive.
func (c *cluster) noteAcknowledgements() {
	for _, each := range c.network.Take(func(m network.Message) bool { return strings.HasPrefix(m.Subject, ackInbox) }) {
		ack, err := proto.UnmarshalAck(each.Data)
		must(err)
		if ack.AckError == client.Ack_OK {
			c.acknowledged = append(c.acknowledged, strings.TrimPrefix(each.Subject, ackInbox))
		}
	}
}
