package subject;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The conformance protocol of docs/reference/wire-protocol.md: one JSON object per line on standard input, and one
 * reply for each.
 */
public final class Main {
    private static final Gson JSON = new GsonBuilder().serializeNulls().create();

    private Main() { }

    public static void main(String[] arguments) throws Exception {
        PrintStream replies = System.out;
        System.setOut(System.err);  // output of Kafka's code must not get between the replies
        try (Cluster cluster = new Cluster(Release.of(arguments))) {
            BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                replies.println(JSON.toJson(answer(cluster, JsonParser.parseString(line).getAsJsonObject())));
                replies.flush();
            }
        } catch (Throwable died) {
            died.printStackTrace();
            Runtime.getRuntime().halt(1);  // threads of Kafka may still run; epochfuzz reports that the adapter died
        }
        Runtime.getRuntime().halt(0);
    }

    private static Map<String, Object> answer(Cluster cluster, JsonObject request) throws IOException {
        if (request.get("op").getAsString().equals("event")) {
            boolean applied = cluster.apply(request.get("event").getAsString());
            return Map.of("applied", applied, "observation", cluster.observe());
        }
        return reset(cluster, request);
    }

    private static Map<String, Object> reset(Cluster cluster, JsonObject request) throws IOException {
        try {
            cluster.reset(Settings.of(request.getAsJsonObject("config")), request.get("protocol").getAsString());
            return Map.of("ok", true, "events", cluster.verbs());
        } catch (Unsupported reason) {
            return Map.of("ok", false, "error", reason.getMessage());
        }
    }
}
