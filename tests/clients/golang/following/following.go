// Package following has the loop of an adapter. It reads one order from each line of standard input, and prints a
// report for each order.
package following

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Order is an order of epochfuzz. docs/how-to/test-your-client.md describes its fields.
type Order struct {
	Op         string  `json:"op"`
	Bootstrap  string  `json:"bootstrap"`
	Topic      string  `json:"topic"`
	Acks       string  `json:"acks"`
	Idempotent bool    `json:"idempotent"`
	Value      string  `json:"value"`
	Seconds    float64 `json:"seconds"`
}

type report struct {
	Acked  []string `json:"acked"`
	Failed []string `json:"failed"`
	Read   []string `json:"read"`
	Error  string   `json:"error,omitempty"`
}

// News collects the values since the last report. The library's own goroutines may add values.
type News struct {
	lock   sync.Mutex
	report report
}

// Sent adds a value to the failed values if err is not nil, otherwise to the acknowledged values.
func (n *News) Sent(value string, err error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if err != nil {
		n.report.Failed = append(n.report.Failed, value)
	} else {
		n.report.Acked = append(n.report.Acked, value)
	}
}

// Read adds a value that the consumer has read.
func (n *News) Read(value string) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.report.Read = append(n.report.Read, value)
}

func (n *News) take() report {
	n.lock.Lock()
	defer n.lock.Unlock()
	taken := n.report
	n.report = report{Acked: []string{}, Failed: []string{}, Read: []string{}}
	return taken
}

// Client is a producer and a consumer of one library.
type Client interface {
	// Reset closes the clients, and creates new ones. The new consumer starts at offset 0.
	Reset(order Order, news *News) error
	Send(value string)
	Poll(wait time.Duration)
	// Restart closes the consumer, and creates another one at the old position with its leader epoch.
	Restart()
	// Commit commits the consumer's position, with its leader epoch if the library supports it. Returns after the
	// commit.
	Commit() error
	// Resume closes the consumer, and creates another one at the committed position.
	Resume() error
}

// note prints an error. An order that fails has no effect, as if the client had sent nothing.
func note(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// Follow carries out orders until standard input ends. With --restart, the consumer restarts before each new leader.
// The reports of a closed producer are dropped, because they belong to an earlier schedule.
func Follow(client Client) {
	restarts := slices.Contains(os.Args[1:], "--restart")
	var news *News
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var order Order
		if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		failure := ""
		switch order.Op {
		case "reset":
			news = &News{}
			news.take()
			if err := client.Reset(order, news); err != nil {
				failure = err.Error()
			}
		case "send":
			client.Send(order.Value)
		case "poll":
			client.Poll(time.Duration(order.Seconds * float64(time.Second)))
		case "refresh":
			if restarts {
				client.Restart()
			}
		case "commit":
			note(client.Commit())
		case "restart":
			note(client.Resume())
		}
		taken := news.take()
		taken.Error = failure
		line, _ := json.Marshal(taken)
		fmt.Println(string(line))
	}
}
