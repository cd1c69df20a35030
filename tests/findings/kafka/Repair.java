import javassist.ClassPool;
import javassist.CtClass;
import javassist.CtMethod;

/** Writes a repaired Kafka class into a directory. The arguments are the name of the repair and the directory. */
public class Repair {
    public static void main(String[] arguments) throws Exception {
        ClassPool pool = ClassPool.getDefault();
        CtClass repaired = switch (arguments[0]) {
            case "rejected-expansion" -> advanceAfterRejection(pool.get("kafka.cluster.Partition"));
            case "fetch-before-registration" -> requireBrokerEpoch(pool.get("kafka.cluster.Partition"));
            case "consumer-position" -> compareEpochs(
                    pool.get("org.apache.kafka.clients.consumer.internals.SubscriptionState"));
            default -> throw new IllegalArgumentException("there is no repair " + arguments[0]);
        };
        repaired.writeFile(arguments[1]);
    }

    /** The leader computes the high watermark also after a rejected proposal, as it does after an accepted one. */
    private static CtClass advanceAfterRejection(CtClass partition) throws Exception {
        method(partition, "handleAlterPartitionError").insertAfter("""
                {
                    scala.Option log = leaderLogIfLocal();
                    if (!$_ && log.isDefined()) {
                        maybeIncrementLeaderHW((org.apache.kafka.storage.internals.log.UnifiedLog) log.get(),
                            maybeIncrementLeaderHW$default$2());
                    }
                }""");
        return partition;
    }

    /** The leader does not propose a replica whose last fetch has the broker epoch -1. */
    private static CtClass requireBrokerEpoch(CtClass partition) throws Exception {
        method(partition, "isBrokerEpochIsrEligible").insertBefore(
                "if ($1.isPresent() && ((Long) $1.get()).longValue() == -1L) return false;");
        return partition;
    }

    /**
     * If the leader responds with an older epoch, and its end offset is not below the position, the consumer handles
     * the epoch like an unknown one.
     */
    private static CtClass compareEpochs(CtClass state) throws Exception {
        method(state, "maybeCompleteValidation").insertBefore("""
                if ($3.leaderEpoch() >= 0 && $3.endOffset() >= $2.offset && $2.offsetEpoch.isPresent()
                        && $3.leaderEpoch() < ((Integer) $2.offsetEpoch.get()).intValue()) {
                    $3 = $3.duplicate().setLeaderEpoch(-1).setEndOffset(-1L);
                }""");
        return state;
    }

    private static CtMethod method(CtClass owner, String name) throws Exception {
        CtMethod[] found = owner.getDeclaredMethods(name);
        if (found.length != 1) {
            throw new IllegalStateException(owner.getName() + " has " + found.length + " methods " + name);
        }
        return found[0];
    }
}
