package subject;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.Set;
import java.util.TreeSet;
import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.ZkClient;
import scala.Function3;
import scala.Option;
import scala.Tuple2;

/** A broker's client of ZooKeeper. It passes ISR changes to the gate. */
final class ZooKeeper extends ZkUtils {
    private static final Tuple2<Object, Object> REFUSED = new Tuple2<>(false, -1);

    private final int broker;
    private final Gate gate;

    ZooKeeper(int broker, Gate gate) {
        super(NothingThere.create(), null, false);
        this.broker = broker;
        this.gate = gate;
    }

    /**
     * Passes the leader's ISR change to the gate. The leader continues either with exactly the ISR that it wrote, or
     * with its former ISR.
     */
    @Override public Tuple2<Object, Object> conditionalUpdatePersistentPath(String path, String data, int version,
            Option<Function3<ZkUtils, String, String, Tuple2<Object, Object>>> check) {
        JsonObject state = JsonParser.parseString(data).getAsJsonObject();
        Write write = new Write(isr(state), state.get("leader_epoch").getAsInt(), version);
        gate.propose(broker, write);
        return write.version < 0 ? REFUSED : new Tuple2<>(true, write.version);
    }

    private static Set<Integer> isr(JsonObject state) {
        Set<Integer> isr = new TreeSet<>();
        for (JsonElement member : state.getAsJsonArray("isr")) {
            isr.add(member.getAsInt());
        }
        return isr;
    }

    /** A client of an empty ZooKeeper. It is created without its constructor, which would connect. */
    private static final class NothingThere extends ZkClient {
        private NothingThere() {
            super("");
        }

        static ZkClient create() {
            return Reflect.allocate(NothingThere.class);
        }

        @Override public <T> T readData(String path, boolean returnNull) {
            return null;
        }
    }
}
