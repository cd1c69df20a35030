package subject;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import kafka.zk.KafkaZkClient;
import org.apache.kafka.common.utils.Time;
import scala.Function3;
import scala.Option;
import scala.Tuple2;

/** A broker's client of ZooKeeper. It passes ISR changes to the gate. */
final class ZooKeeper extends KafkaZkClient {
    private static final Tuple2<Object, Object> REFUSED = new Tuple2<>(false, -1);

    private final int broker;
    private final Gate gate;

    ZooKeeper(int broker, Gate gate, Time time) {
        super(null, false, time);
        this.broker = broker;
        this.gate = gate;
    }

    /**
     * Passes the leader's ISR change to the gate. The leader continues either with exactly the ISR that it wrote, or
     * with its former ISR.
     */
    @Override public Tuple2<Object, Object> conditionalUpdatePath(String path, byte[] data, int version,
            Option<Function3<KafkaZkClient, String, byte[], Tuple2<Object, Object>>> check) {
        JsonObject state = JsonParser.parseString(new String(data, UTF_8)).getAsJsonObject();
        Write write = new Write(isr(state), state.get("leader_epoch").getAsInt(), version);
        gate.propose(broker, write);
        return write.version < 0 ? REFUSED : new Tuple2<>(true, write.version);
    }

    @Override public Properties getEntityConfigs(String type, String name) {
        return new Properties();
    }

    private static Set<Integer> isr(JsonObject state) {
        Set<Integer> isr = new TreeSet<>();
        for (JsonElement member : state.getAsJsonArray("isr")) {
            isr.add(member.getAsInt());
        }
        return isr;
    }
}
