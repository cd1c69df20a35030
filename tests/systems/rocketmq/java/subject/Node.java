package subject;

import java.nio.file.Path;
import java.util.List;
import org.apache.rocketmq.remoting.protocol.EpochEntry;

/** A replica, whether its broker is up or down. */
final class Node {
    final long id;
    Path disk;
    Broker broker;  // null while it is down
    Roles roles;
    Link link;  // to its master; there is none until it has fetched
    int next;  // of the controller's decisions, the first that it has not learned
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

    /** Looks at the replica; what is on disk stays as it was when its process ended. */
    void look() {
        if (isUp()) {
            end = broker.end();
            confirmed = broker.confirmed();
            epochs = broker.epochs();
            log = broker.log();
        }
    }
}
