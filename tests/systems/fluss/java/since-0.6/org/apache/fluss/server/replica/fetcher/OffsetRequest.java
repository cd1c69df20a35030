package org.apache.fluss.server.replica.fetcher;

/**
 * A request for the leader's log end offset or log start offset. The fetcher thread sends it while it processes a
 * response.
 */
public record OffsetRequest(boolean wantsEnd) { }
