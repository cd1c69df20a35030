package subject;

/** A broker's response to a produce request. Except after {@link #STORED}, the producer may send the record again. */
enum Reply { STORED, OUT_OF_SEQUENCE, FAILED }
