package subject;

/** A record as an idempotent producer sends it: with the producer's epoch, and a sequence number in that epoch (KIP-98). */
record Sent(int record, int producerEpoch, int sequence) { }
