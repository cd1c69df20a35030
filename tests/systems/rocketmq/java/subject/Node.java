package subject;

import java.nio.file.Path;
import java.util.List;
import org.apache.rocketmq.remoting.protocol.EpochEntry;

/** A replica and its broker, which may be down. */
final class Node {
    final long id;
    Path disk;
    Broker broker;  // null while the broker is down
    Roles roles;
    Link link;  // the connection to its master; null before its first fetch
    int next;  // the first epoch whose decision it has not learned
    long end;
    long confirmed;
    List<EpochEntry> epochs = List.of();
    List<List<Object>> log = List.of();

    Node(long id) {
        this.id = id;
    }

    boolean isUp() {
        return broker != null;
    }

    boolean isMaster() {
        return isUp() && broker.isMaster();
    }

    /** Updates the fields from the running broker. They keep their last values while the broker is down. */
    void look() {
        if (isUp()) {
            end = broker.end();
            confirmed = broker.confirmed();
            epochs = broker.epochs();
            log = broker.log();
        }
    }
}
