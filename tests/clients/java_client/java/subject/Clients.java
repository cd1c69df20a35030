package subject;

import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A producer and a consumer of Kafka's Java client. */
final class Clients {
    private News news = new News();
    private TopicPartition partition;
    private Map<String, Object> settings;
    private OffsetAndMetadata position;
    private KafkaProducer<String, String> producer;
    private KafkaConsumer<String, String> consumer;

    News news() {
        return news;
    }

    /** Closes the clients, and creates new ones. The reports of the closed producer are dropped. */
    void reset(JsonObject order) {
        if (producer != null) {
            producer.close(Duration.ZERO);
            consumer.close(Duration.ZERO);
        }
        news = new News();
        partition = new TopicPartition(order.get("topic").getAsString(), 0);
        settings = Map.of(
            "bootstrap.servers", order.get("bootstrap").getAsString(),
            "metadata.max.age.ms", 50,
            "reconnect.backoff.ms", 10,
            "reconnect.backoff.max.ms", 50,
            "retry.backoff.ms", 10);
        Map<String, Object> own = with("producer");
        own.put("acks", order.get("acks").getAsString());
        own.put("enable.idempotence", order.get("idempotent").getAsBoolean());
        own.put("linger.ms", 0);
        own.put("batch.size", 0);
        own.put("max.block.ms", 5000);
        producer = new KafkaProducer<>(own, new StringSerializer(), new StringSerializer());
        start(new OffsetAndMetadata(0));
    }

    private Map<String, Object> with(String client) {
        Map<String, Object> own = new HashMap<>(settings);
        own.put("client.id", client);
        return own;
    }

    /** Starts the consumer at a position, which has a leader epoch if a record was read there. */
    private void start(OffsetAndMetadata from) {
        position = from;
        assign();
        consumer.seek(partition, from);
    }

    private void assign() {
        Map<String, Object> own = with("consumer");
        own.put("group.id", "group");
        own.put("auto.offset.reset", "earliest");
        own.put("enable.auto.commit", false);
        own.put("fetch.max.wait.ms", 50);
        own.put("max.poll.records", 1);
        consumer = new KafkaConsumer<>(own, new StringDeserializer(), new StringDeserializer());
        consumer.assign(List.of(partition));
    }

    void send(String value) {
        News told = news;
        producer.send(new ProducerRecord<>(partition.topic(), 0, null, value), (sent, failure) -> told.sent(value, failure));
    }

    void poll(Duration wait) {
        for (ConsumerRecord<String, String> record : consumer.poll(wait)) {
            news.read(record.value());
            position = new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), "");
        }
    }

    void restart() {
        consumer.close(Duration.ZERO);
        start(position);
    }

    /** Commits the position. Without the epoch, a consumer that resumes there cannot validate it (KAFKA-20507). */
    void commit(boolean withEpoch) {
        OffsetAndMetadata committed = withEpoch ? position : new OffsetAndMetadata(position.offset());
        consumer.commitSync(Map.of(partition, committed), Duration.ofSeconds(2));
    }

    /** Starts another consumer, which takes the committed position. */
    void resume() {
        consumer.close(Duration.ZERO);
        assign();
    }
}
