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

// request is a line of docs/reference/wire-protocol.md.
type request struct {
	Op       string         `json:"op"`
	Event    string         `json:"event"`
	Protocol string         `json:"protocol"`
	Config   map[string]any `json:"config"`
}

// TestSubject answers a line with a line until there are no more. It is a test because a bubble wants one; there is one
// bubble for all resets, for nats.go keeps timers that it has used.
func TestSubject(t *testing.T) {
	replies := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // nothing that anybody prints may get between the lines
	synctest.Test(t, func(*testing.T) { serve(bufio.NewReader(os.Stdin), replies) })
}

// serve answers requests; when it returns, all goroutines of the bubble have ended, or its end is an error.
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

// temporary is a directory for all disks: in memory, where there is such a place. Those of processes that were killed go.
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
