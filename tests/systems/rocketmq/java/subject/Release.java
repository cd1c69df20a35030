package subject;

/** A release of RocketMQ. All releases have the same adapter. */
record Release(String version) {
    static Release of(String[] arguments) {
        // the file in resources, instead of the controller's
        System.setProperty("rmq.logback.configurationFile", "rmq.logback.xml");
        return new Release(arguments[0]);
    }
}
