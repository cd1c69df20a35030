package subject;

/**
 * The arguments with which a broker starts.
 *
 * @param changesIsrAtOnce whether a change of the ISR is one event, instead of a request and a response (KIP-497)
 * @param brokerEpochs the broker epoch of each broker, which is new at every registration (KIP-380, KIP-903)
 */
record Host(int id, Release release, Settings settings, Disk disk, FakeTime time, Gate gate, boolean changesIsrAtOnce,
        long[] brokerEpochs) { }
