package commitlog

// Checkpoint writes the high watermark to disk, as a commit log does every five seconds and when it is closed.
func Checkpoint(l CommitLog) error {
	return l.(*commitLog).checkpointHW()
}

// Epochs returns the epoch and the offset of each entry in the leader epoch cache, oldest first.
func Epochs(l CommitLog) [][2]int64 {
	cache := l.(*commitLog).leaderEpochCache
	entries := [][2]int64{}
	for _, each := range cache.epochOffsets {
		entries = append(entries, [2]int64{int64(each.leaderEpoch), each.startOffset})
	}
	return entries
}
