package subject;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * An adapter for Kafka's Java client. It reads one order from each line of standard input, and prints a report for each
 * order.
 */
public final class Main {
    private static final Gson GSON = new Gson();

    private Main() {
    }

    /**
     * Carries out orders until standard input ends. With `--restart`, the consumer restarts before each new leader.
     * With `--commit-offset-only`, the application commits positions without their leader epochs.
     */
    public static void main(String[] arguments) throws Exception {
        boolean restarts = List.of(arguments).contains("--restart");
        boolean commitsEpochs = !List.of(arguments).contains("--commit-offset-only");
        Clients clients = new Clients();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonObject order = GSON.fromJson(line, JsonObject.class);
            String op = order.get("op").getAsString();
            if (op.equals("reset")) {
                clients.reset(order);
            } else if (op.equals("send")) {
                clients.send(order.get("value").getAsString());
            } else if (op.equals("poll")) {
                clients.poll(Duration.ofMillis(Math.round(order.get("seconds").getAsDouble() * 1000)));
            } else if (op.equals("refresh") && restarts) {
                clients.restart();
            } else if (op.equals("commit")) {
                clients.commit(commitsEpochs);
            } else if (op.equals("restart")) {
                clients.resume();
            }
            System.out.println(GSON.toJson(clients.news().take()));
        }
        System.exit(0); // threads of closed producers may still run
    }
}
