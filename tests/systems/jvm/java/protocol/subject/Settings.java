package subject;

import com.google.gson.JsonObject;

/** The partition's settings, as a reset brings them. */
record Settings(
        int replicas,
        boolean acksAll,
        int minInsyncReplicas,
        boolean uncleanLeaderElection,
        boolean asynchronousCheckpoint,
        int recordsPerFetch) {

    static Settings of(JsonObject config) {
        return new Settings(
                config.get("replicas").getAsInt(),
                config.get("acks").getAsString().equals("all"),
                config.get("min_insync_replicas").getAsInt(),
                config.get("unclean_leader_election").getAsBoolean(),
                config.get("asynchronous_checkpoint").getAsBoolean(),
                config.get("records_per_fetch").getAsInt());
    }
}
