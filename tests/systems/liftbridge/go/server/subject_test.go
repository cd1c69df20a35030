package server

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

// request is a request of docs/reference/wire-protocol.md.
type request struct {
	Op       string         `json:"op"`
	Event    string         `json:"event"`
	Protocol string         `json:"protocol"`
	Config   map[string]any `json:"config"`
}

// TestSubject replies to each request line with one line. It is a test because only a test can create a bubble. All
// resets share one bubble, because nats.go reuses timers.
func TestSubject(t *testing.T) {
	replies := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // output of other code must not get between the replies
	synctest.Test(t, func(*testing.T) { serve(bufio.NewReader(os.Stdin), replies) })
}

// serve replies to the requests. Before it returns, it stops all goroutines of the bubble, because a remaining
// goroutine would be an error.
func serve(lines *bufio.Reader, replies *json.Encoder) {
	root := temporary()
	defer os.RemoveAll(root)
	var c *cluster
	for next := read(lines); next != nil; next = read(lines) {
		if next.Op != "reset" {
			must(replies.Encode(map[string]any{"applied": c.apply(next.Event), "observation": c.observe()}))
			continue
		}
		if c != nil {
			c.close()
			c = nil
		}
		chosen, lack := settingsOf(next)
		if lack != "" {
			must(replies.Encode(map[string]any{"ok": false, "error": lack}))
			continue
		}
		c = newCluster(chosen, filepath.Join(root, "disks"))
		must(replies.Encode(map[string]any{"ok": true, "events": c.events()}))
	}
	if c != nil {
		c.close()
	}
}

func read(lines *bufio.Reader) *request {
	line, err := lines.ReadBytes('\n')
	if err == io.EOF {
		return nil
	}
	must(err)
	next := &request{}
	must(json.Unmarshal(line, next))
	return next
}

// temporary creates the parent directory of all disks: in memory (/dev/shm) if possible. It also deletes the
// directories that killed processes left.
func temporary() string {
	parent, prefix := "/dev/shm", "conform-liftbridge-"
	if _, err := os.Stat(parent); err != nil {
		parent = os.TempDir()
	}
	left, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	must(err)
	for _, each := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(each), prefix))
		if err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			must(os.RemoveAll(each))
		}
	}
	directory := filepath.Join(parent, prefix+strconv.Itoa(os.Getpid()))
	must(os.MkdirAll(directory, 0o700))
	return directory
}
