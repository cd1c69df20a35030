import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends m0 and m1 in two batches of an idempotent producer, waits for both acknowledgements, and reads the log. The
 * argument is the address of the broker.
 */
public class RestartedLeader {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> broker = Map.of("bootstrap.servers", arguments[0]);
        try (Admin admin = Admin.create(broker)) {
            admin.createTopics(List.of(new NewTopic(PARTITION.topic(), 1, (short) 1))).all().get();
        }
        // The other settings have their default values: acks=all, enable.idempotence=true, 5 requests in flight.
        try (var producer = new KafkaProducer<>(broker, new StringSerializer(), new StringSerializer())) {
            for (String value : List.of("m0", "m1")) {
                producer.send(new ProducerRecord<>(PARTITION.topic(), value), (metadata, error) -> System.out.println(
                        error == null ? value + " acknowledged at offset " + metadata.offset() : value + ": " + error));
                Thread.sleep(500); // so that each record has its own batch
            }
        }
        try (var consumer = new KafkaConsumer<>(broker, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            long end = consumer.endOffsets(List.of(PARTITION)).get(PARTITION);
            while (consumer.position(PARTITION) < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    System.out.println("offset " + record.offset() + ": " + record.value());
                }
            }
        }
    }
}
