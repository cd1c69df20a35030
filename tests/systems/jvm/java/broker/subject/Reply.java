package subject;

/** A broker's answer to a produce request. After all but {@link #STORED} the producer may send the record again. */
enum Reply { STORED, OUT_OF_SEQUENCE, FAILED }
