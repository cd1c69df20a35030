// Command sarama is an adapter for Sarama, whose consumer positions have no leader epoch.
package main

import (
	"errors"
	"strings"
	"time"

	"epochfuzz/clients/following"

	"github.com/IBM/sarama"
)

var acks = map[string]sarama.RequiredAcks{"all": sarama.WaitForAll, "1": sarama.WaitForLocal, "0": sarama.NoResponse}

type client struct {
	news      *following.News
	order     following.Order
	position  int64
	producer  sarama.AsyncProducer
	consumer  sarama.Consumer
	partition sarama.PartitionConsumer
}

func (c *client) shared(name string) *sarama.Config {
	config := sarama.NewConfig()
	config.ClientID = name
	config.Version = sarama.V2_8_0_0
	config.Net.MaxOpenRequests = 1 // Sarama requires it for idempotence
	config.Metadata.RefreshFrequency = 50 * time.Millisecond
	config.Metadata.Retry.Backoff = 10 * time.Millisecond
	config.Metadata.Retry.Max = 1000
	return config
}

func (c *client) Reset(order following.Order, news *following.News) error {
	if c.producer != nil {
		c.producer.AsyncClose()
		c.stop()
	}
	c.order, c.news = order, news
	config := c.shared("producer")
	config.Producer.RequiredAcks = acks[order.Acks]
	config.Producer.Idempotent = order.Idempotent
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Flush.MaxMessages = 1
	config.Producer.Retry.Backoff = 10 * time.Millisecond
	config.Producer.Retry.Max = 1000
	config.Producer.Return.Successes = true
	var err error
	if c.producer, err = sarama.NewAsyncProducer(strings.Split(order.Bootstrap, ","), config); err != nil {
		return err
	}
	go report(c.producer, news)
	return c.start(0)
}

// report reports which of the producer's records were acknowledged and which failed, until the producer is closed.
func report(producer sarama.AsyncProducer, news *following.News) {
	go func() {
		for failure := range producer.Errors() {
			news.Sent(failure.Msg.Metadata.(string), failure.Err)
		}
	}()
	for message := range producer.Successes() {
		news.Sent(message.Metadata.(string), nil)
	}
}

func (c *client) start(position int64) error {
	config := c.shared("consumer")
	config.Consumer.MaxWaitTime = 50 * time.Millisecond
	config.Consumer.Retry.Backoff = 10 * time.Millisecond
	config.Consumer.Return.Errors = true
	var err error
	if c.consumer, err = sarama.NewConsumer(strings.Split(c.order.Bootstrap, ","), config); err != nil {
		return err
	}
	return c.assign(position)
}

// assign starts to read at a position. If the position is out of range, it starts at the earliest offset, because
// Sarama leaves the choice to the application.
func (c *client) assign(position int64) error {
	partition, err := c.consumer.ConsumePartition(c.order.Topic, 0, position)
	if errors.Is(err, sarama.ErrOffsetOutOfRange) {
		position = sarama.OffsetOldest
		partition, err = c.consumer.ConsumePartition(c.order.Topic, 0, position)
	}
	if err != nil {
		return err
	}
	c.position, c.partition = position, partition
	return nil
}

func (c *client) stop() {
	if c.partition != nil {
		c.partition.AsyncClose()
	}
	go c.consumer.Close() // Close waits for a fetch that the broker may hold
}

func (c *client) Send(value string) {
	c.producer.Input() <- &sarama.ProducerMessage{
		Topic: c.order.Topic, Value: sarama.StringEncoder(value), Metadata: value,
	}
}

// Poll waits for a record. If the partition has no record at the position, Sarama closes it. The application then
// starts again at the earliest offset.
func (c *client) Poll(wait time.Duration) {
	select {
	case message, isOpen := <-c.partition.Messages():
		if isOpen {
			c.news.Read(string(message.Value))
			c.position = message.Offset + 1
		}
	case failure, isOpen := <-c.partition.Errors():
		if isOpen && errors.Is(failure.Err, sarama.ErrOffsetOutOfRange) {
			c.partition.AsyncClose()
			for range c.partition.Messages() {
			}
			if err := c.assign(sarama.OffsetOldest); err != nil {
				panic(err)
			}
		}
	case <-time.After(wait):
	}
}

func (c *client) Restart() {
	c.stop()
	if err := c.start(c.position); err != nil {
		panic(err)
	}
}

// Commit commits the position through Sarama's offset manager, which does not support a leader epoch.
func (c *client) Commit() error {
	return c.committed(func(partition sarama.PartitionOffsetManager) { partition.MarkOffset(c.position, "") })
}

// Resume starts the consumer at the committed position, or at offset 0 if there is none.
func (c *client) Resume() error {
	position := int64(0)
	err := c.committed(func(partition sarama.PartitionOffsetManager) {
		if next, _ := partition.NextOffset(); next >= 0 {
			position = next
		}
	})
	if err != nil {
		return err
	}
	c.stop()
	return c.start(position)
}

// committed passes the partition's offset manager to a function, and commits the offset that the function has marked.
func (c *client) committed(use func(sarama.PartitionOffsetManager)) error {
	config := c.shared("consumer")
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Metadata.Retry.Max = 10
	connection, err := sarama.NewClient(strings.Split(c.order.Bootstrap, ","), config)
	if err != nil {
		return err
	}
	defer connection.Close()
	manager, err := sarama.NewOffsetManagerFromClient("group", connection)
	if err != nil {
		return err
	}
	defer manager.Close()
	partition, err := manager.ManagePartition(c.order.Topic, 0)
	if err != nil {
		return err
	}
	use(partition)
	manager.Commit()
	partition.AsyncClose() // Close would wait for the offset manager
	return nil
}

func main() { following.Follow(&client{}) }
