// Command franz is an adapter for franz-go.
package main

import (
	"context"
	"strings"
	"time"

	"epochfuzz/clients/following"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	group    = "group"
	patience = 2 * time.Second
)

var acks = map[string]kgo.Acks{"all": kgo.AllISRAcks(), "1": kgo.LeaderAck(), "0": kgo.NoAck()}

type franz struct {
	news     *following.News
	order    following.Order
	position kgo.Offset
	producer *kgo.Client
	consumer *kgo.Client
}

func (f *franz) shared(name string) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(strings.Split(f.order.Bootstrap, ",")...),
		kgo.ClientID(name),
		kgo.MetadataMinAge(10 * time.Millisecond),
		kgo.MetadataMaxAge(50 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 10 * time.Millisecond }),
	}
}

func (f *franz) Reset(order following.Order, news *following.News) error {
	if f.producer != nil {
		f.producer.Close()
		f.consumer.Close()
	}
	f.order, f.news = order, news
	options := append(f.shared("producer"),
		kgo.RequiredAcks(acks[order.Acks]),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(0),
	)
	if !order.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	var err error
	if f.producer, err = kgo.NewClient(options...); err != nil {
		return err
	}
	return f.start(kgo.NewOffset().At(0))
}

// start starts the consumer at a position. The position has a leader epoch if a record was read there.
func (f *franz) start(position kgo.Offset) error {
	f.position = position
	options := append(f.shared("consumer"),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{f.order.Topic: {0: position}}),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(50*time.Millisecond),
	)
	var err error
	f.consumer, err = kgo.NewClient(options...)
	return err
}

func (f *franz) Send(value string) {
	news := f.news
	record := &kgo.Record{Topic: f.order.Topic, Value: []byte(value)}
	f.producer.Produce(context.Background(), record, func(_ *kgo.Record, err error) { news.Sent(value, err) })
}

func (f *franz) Poll(wait time.Duration) {
	bounded, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for _, record := range f.consumer.PollRecords(bounded, 1).Records() {
		f.news.Read(string(record.Value))
		f.position = kgo.NewOffset().At(record.Offset + 1).WithEpoch(record.LeaderEpoch)
	}
}

func (f *franz) Restart() {
	f.consumer.Close()
	if err := f.start(f.position); err != nil {
		panic(err) // the same options have worked before
	}
}

// Commit commits the position without joining the group, as an application with a manually assigned partition does.
func (f *franz) Commit() error {
	bounded, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	position := f.position.EpochOffset()
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset, partition.LeaderEpoch = position.Offset, position.Epoch
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.Partitions = f.order.Topic, append(topic.Partitions, partition)
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.Topics = group, append(request.Topics, topic)
	_, err := request.RequestWith(bounded, f.consumer)
	return err
}

// Resume starts the consumer at the committed position and leader epoch, or at offset 0 if there is none.
func (f *franz) Resume() error {
	bounded, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	topic := kmsg.NewOffsetFetchRequestTopic()
	topic.Topic, topic.Partitions = f.order.Topic, []int32{0}
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group, request.Topics = group, append(request.Topics, topic)
	response, err := request.RequestWith(bounded, f.consumer)
	if err != nil {
		return err
	}
	position := kgo.NewOffset().At(0)
	for _, topic := range response.Topics {
		for _, committed := range topic.Partitions {
			if committed.Offset >= 0 {
				position = kgo.NewOffset().At(committed.Offset).WithEpoch(committed.LeaderEpoch)
			}
		}
	}
	f.consumer.Close()
	return f.start(position)
}

func main() { following.Follow(&franz{}) }
