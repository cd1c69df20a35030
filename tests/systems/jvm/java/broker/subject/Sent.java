package subject;

/** A record of an idempotent producer, with the producer's epoch and a sequence number in this epoch (KIP-98). */
record Sent(int record, int producerEpoch, int sequence) { }
