package subject;

/** A release of RocketMQ. Its adapter is the same for all that there are. */
record Release(String version) {
    static Release of(String[] arguments) {
        System.setProperty("rmq.logback.configurationFile", "rmq.logback.xml");  // that of resources, not the controller's
        return new Release(arguments[0]);
    }
}
