package subject;

import com.google.gson.JsonObject;

/** The settings of the partition from a {@code reset} request. */
record Settings(
        int replicas,
        String acks,
        int minInsyncReplicas,
        boolean uncleanLeaderElection,
        boolean asynchronousCheckpoint,
        int recordsPerFetch,
        boolean retries,
        boolean lagTime,
        boolean delayedFetch,
        boolean retention,
        boolean producerEpochs,
        boolean lostDirectory) {

    static Settings of(JsonObject config) {
        return new Settings(
                config.get("replicas").getAsInt(),
                config.get("acks").getAsString(),
                config.get("min_insync_replicas").getAsInt(),
                config.get("unclean_leader_election").getAsBoolean(),
                config.get("asynchronous_checkpoint").getAsBoolean(),
                config.get("records_per_fetch").getAsInt(),
                isOn(config, "retries"),
                isOn(config, "lag_time"),
                isOn(config, "delayed_fetch"),
                isOn(config, "retention"),
                isOn(config, "producer_epochs"),
                isOn(config, "lost_directory"));
    }

    private static boolean isOn(JsonObject config, String setting) {
        return config.has(setting) && config.get(setting).getAsBoolean();
    }

    boolean acksAll() {
        return acks.equals("all");
    }

    /** Returns whether producers wait for acknowledgements. */
    boolean awaitsAnswers() {
        return !acks.equals("0");
    }
}
