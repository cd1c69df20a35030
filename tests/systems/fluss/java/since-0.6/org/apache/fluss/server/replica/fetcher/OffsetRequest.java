package org.apache.fluss.server.replica.fetcher;

/** Asks where the leader's log ends, or where it begins; this is part of the processing of an answer. */
public record OffsetRequest(boolean wantsEnd) { }
