package subject;

/**
 * What a broker is started with.
 *
 * @param changesIsrAtOnce whether a change of the ISR is one event, rather than a request and a response (KIP-497)
 * @param brokerEpochs by broker, a number that a broker gets anew whenever it registers (KIP-380, KIP-903)
 */
record Host(int id, Release release, Settings settings, Disk disk, FakeTime time, Gate gate, boolean changesIsrAtOnce,
        long[] brokerEpochs) { }
