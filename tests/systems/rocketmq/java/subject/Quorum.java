package subject;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import org.apache.rocketmq.common.ControllerConfig;
import org.apache.rocketmq.controller.elect.impl.DefaultElectPolicy;
import org.apache.rocketmq.controller.impl.event.ControllerResult;
import org.apache.rocketmq.controller.impl.manager.ReplicasInfoManager;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.body.SyncStateSet;
import org.apache.rocketmq.remoting.protocol.header.controller.AlterSyncStateSetRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.controller.ElectMasterRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.controller.GetReplicaInfoRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.controller.GetReplicaInfoResponseHeader;
import org.apache.rocketmq.remoting.protocol.header.controller.register.ApplyBrokerIdRequestHeader;

/**
 * RocketMQ's controller. It has the state machine ReplicasInfoManager, but not the Raft log that replicates its events.
 *
 * <p>It keeps every decision, because a broker may learn a decision late.
 */
final class Quorum {
    private static final String CLUSTER = "cluster";
    private static final String BROKER = "broker";

    private final ReplicasInfoManager manager;
    private final DefaultElectPolicy policy;
    private final LongPredicate isAlive;
    private final List<Decision> decisions = new ArrayList<>();

    Quorum(int replicas, boolean unclean, LongPredicate isAlive) {
        this.isAlive = isAlive;
        ControllerConfig config = new ControllerConfig();
        config.setEnableElectUncleanMaster(unclean);
        manager = new ReplicasInfoManager(config);
        policy = new DefaultElectPolicy((cluster, broker, id) -> isAlive.test(id), null);
        for (long id = 1; id <= replicas; id++) {
            apply(manager.applyBrokerId(new ApplyBrokerIdRequestHeader(CLUSTER, BROKER, id, "127.0.0.1:" + id + ";0")));
        }
    }

    /** Elects the named broker, as an operator can do. Returns false if the controller rejects it. */
    boolean elect(long id) {
        if (!apply(manager.electMaster(new ElectMasterRequestHeader(CLUSTER, BROKER, id, true), policy))) {
            return false;
        }
        decisions.add(current());
        return true;
    }

    /** Handles a request to change the SyncStateSet. */
    void answer(Asked asked) {
        AlterSyncStateSetRequestHeader header =
                new AlterSyncStateSetRequestHeader(BROKER, asked.master, asked.masterEpoch);
        var result = manager.alterSyncStateSet(
                header, new SyncStateSet(asked.set, asked.setEpoch), (cluster, broker, id) -> isAlive.test(id));
        asked.answer = apply(result) ? decode(result) : null;
        asked.isAnswered = true;
    }

    /** Returns the current decision, as a broker receives it from the controller. */
    Decision current() {
        ControllerResult<GetReplicaInfoResponseHeader> result =
                manager.getReplicaInfo(new GetReplicaInfoRequestHeader(BROKER));
        SyncStateSet set = decode(result);
        GetReplicaInfoResponseHeader is = result.getResponse();
        return new Decision(is.getMasterEpoch(), is.getMasterBrokerId(), set.getSyncStateSetEpoch(),
                new HashSet<>(set.getSyncStateSet()));
    }

    /** Returns the decision that started an epoch. */
    Decision of(int epoch) {
        return decisions.get(epoch - 1);
    }

    int epoch() {
        return decisions.size();
    }

    private static SyncStateSet decode(ControllerResult<?> result) {
        return RemotingSerializable.decode(result.getBody(), SyncStateSet.class);
    }

    private boolean apply(ControllerResult<?> result) {
        result.getEvents().forEach(manager::applyEvent);
        return result.getResponseCode() == ResponseCode.SUCCESS;
    }
}
