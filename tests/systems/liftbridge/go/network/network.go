// Package network is a NATS server that delivers no message by itself. It holds each published message until Deliver is
// called.
//
// It implements those parts of NATS's client protocol
// (https://docs.nats.io/reference/reference-protocols/nats-protocol) that nats.go needs to publish, to subscribe and to
// send requests. It uses net.Pipe, which blocks durably in a bubble of testing/synctest.
package network

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const info = `INFO {"server_id":"held","server_name":"held","version":"2.7.4","proto":1,"headers":true,` +
	`"max_payload":1048576}` + "\r\n"

// Message is a published message: its sender, its subject, and the subject for the response.
type Message struct {
	From, Subject, Reply string
	Data                 []byte
}

// Network holds the published messages in the order in which they arrived.
type Network struct {
	mu      sync.Mutex
	clients []*client
	held    []Message
}

type client struct {
	owner         string
	conn          net.Conn
	subscriptions map[string]string // the subject of each subscription id
}

// Dialer implements nats.Options.CustomDialer. All its connections belong to one owner.
type Dialer struct {
	Network *Network
	Owner   string
}

// Dial connects to the network. It ignores the address.
func (d Dialer) Dial(string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	c := &client{owner: d.Owner, conn: ours, subscriptions: map[string]string{}}
	d.Network.mu.Lock()
	d.Network.clients = append(d.Network.clients, c)
	d.Network.mu.Unlock()
	go d.Network.serve(c)
	return theirs, nil
}

// Take removes the held messages that are wanted, and returns them, oldest first.
func (n *Network) Take(wanted func(Message) bool) []Message {
	n.mu.Lock()
	defer n.mu.Unlock()
	var taken, left []Message
	for _, each := range n.held {
		if wanted(each) {
			taken = append(taken, each)
		} else {
			left = append(left, each)
		}
	}
	n.held = left
	return taken
}

// Subscribers returns the owners of the connections that have subscribed to a subject, sorted and without duplicates.
func (n *Network) Subscribers(subject string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var owners []string
	for _, c := range n.clients {
		if c.subscription(subject) != "" {
			owners = append(owners, c.owner)
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

// Deliver sends a message to one owner, if this owner has subscribed to the subject.
func (n *Network) Deliver(m Message, owner string) {
	n.each(owner, m.Subject, func(id string) string {
		return fmt.Sprintf("MSG %s %s %s %d\r\n%s\r\n", m.Subject, id, m.Reply, len(m.Data), m.Data)
	})
}

// RefuseNoResponders responds to a request that its subject has no subscribers, as a NATS server does since 2.2.
func (n *Network) RefuseNoResponders(m Message) {
	const headers = "NATS/1.0 503\r\n\r\n"
	n.each(m.From, m.Reply, func(id string) string {
		return fmt.Sprintf("HMSG %s %s %d %d\r\n%s\r\n", m.Reply, id, len(headers), len(headers), headers)
	})
}

// each writes a line to all connections of an owner that have subscribed to a subject.
func (n *Network) each(owner, subject string, line func(id string) string) {
	ids := map[net.Conn]string{}
	n.change(func() {
		for _, c := range n.clients {
			if id := c.subscription(subject); c.owner == owner && id != "" {
				ids[c.conn] = id
			}
		}
	})
	for conn, id := range ids {
		io.WriteString(conn, line(id)) // an error means that the client has disconnected
	}
}

// subscription returns the id of the client's subscription to a subject, or "" if it has none.
func (c *client) subscription(subject string) string {
	for id, pattern := range c.subscriptions {
		if matches(pattern, subject) {
			return id
		}
	}
	return ""
}

// matches returns whether a subject matches a pattern, in which * stands for one word and > for all remaining words.
func matches(pattern, subject string) bool {
	wanted, given := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, word := range wanted {
		if word == ">" {
			return len(given) > i
		}
		if i >= len(given) || (word != "*" && word != given[i]) {
			return false
		}
	}
	return len(wanted) == len(given)
}

// serve executes the commands of one client until the client closes its connection.
func (n *Network) serve(c *client) {
	defer n.forget(c)
	if _, err := io.WriteString(c.conn, info); err != nil {
		return
	}
	lines := bufio.NewReader(c.conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		switch words[0] {
		case "PING":
			_, err = io.WriteString(c.conn, "PONG\r\n")
		case "PUB":
			err = n.hold(c, words, lines)
		case "SUB":
			n.change(func() { c.subscriptions[words[len(words)-1]] = words[1] })
		case "UNSUB":
			n.change(func() { delete(c.subscriptions, words[1]) })
		}
		if err != nil {
			return
		}
	}
}

func (n *Network) hold(c *client, words []string, lines io.Reader) error {
	size, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return err
	}
	data := make([]byte, size+len("\r\n"))
	if _, err := io.ReadFull(lines, data); err != nil {
		return err
	}
	m := Message{From: c.owner, Subject: words[1], Data: data[:size]}
	if len(words) == 4 {
		m.Reply = words[2]
	}
	n.change(func() { n.held = append(n.held, m) })
	return nil
}

func (n *Network) forget(c *client) {
	c.conn.Close()
	n.change(func() { n.clients = slices.DeleteFunc(n.clients, func(each *client) bool { return each == c }) })
}

func (n *Network) change(what func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	what()
}
