package server

import "github.com/liftbridge-io/liftbridge/server/commitlog"

// observation is an observation of docs/reference/wire-protocol.md. Offsets are counted as in Kafka, so each high
// watermark and log end offset is one more than Liftbridge's.
type observation struct {
	Replicas   map[string]any `json:"replicas"`
	Controller any            `json:"controller"`
	Producers  any            `json:"producers"`
}

func (c *cluster) observe() observation {
	now := c.current()
	seen := observation{
		Replicas:   map[string]any{},
		Controller: map[string]any{"leader": now.leader, "epoch": now.epoch, "isr": now.isr},
		Producers:  map[string]any{"acked": c.acknowledged},
	}
	for name, b := range c.brokers {
		if b.isUp() {
			seen.Replicas[name] = c.observeReplica(b)
		} else {
			seen.Replicas[name] = map[string]any{
				"up": false, "leo": len(b.disk.log), "hw": b.disk.hw, "log": c.counted(b.disk.log),
				"leader": nil, "leader_epoch": nil,
			}
		}
	}
	return seen
}

func (c *cluster) observeReplica(b *broker) map[string]any {
	p := b.partition()
	seen := map[string]any{
		"up": true, "leo": p.log.NewestOffset() + 1, "hw": p.log.HighWatermark() + 1, "log": c.counted(b.log()),
		"leader": nil, "leader_epoch": nil, "own": map[string]any{"epoch_cache": c.cache(p.log)},
	}
	if b.recovered {
		return seen
	}
	seen["leader"], seen["leader_epoch"] = p.Leader, c.epoch(p.LeaderEpoch)
	if b.leads() {
		remote := map[string]int64{}
		for name, each := range p.isr {
			if name != b.name {
				remote[name] = each.getLatestOffset() + 1
			}
		}
		seen["own"].(map[string]any)["remote_leo"] = remote
	}
	return seen
}

// counted returns a log whose leader epochs are counted from 0, as in the model. Liftbridge's leader epochs are indexes
// of the Raft log.
func (c *cluster) counted(log []entry) []entry {
	counted := []entry{}
	for _, each := range log {
		counted = append(counted, entry{each[0], c.epoch(each[1].(uint64))})
	}
	return counted
}

// cache returns the leader epoch cache. If the replica led in an epoch, the entry has the last offset before the epoch.
// Otherwise, the entry has the first offset of the epoch.
func (c *cluster) cache(log commitlog.CommitLog) []entry {
	entries := []entry{}
	for _, each := range commitlog.Epochs(log) {
		entries = append(entries, entry{c.epoch(uint64(each[0])), each[1]})
	}
	return entries
}

func (c *cluster) epoch(index uint64) int {
	for _, each := range c.raft {
		if each.epochIndex == index {
			return each.epoch
		}
	}
	panic("the Raft log has no entry for this leader epoch")
}
