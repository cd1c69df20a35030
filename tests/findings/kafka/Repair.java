import javassist.CannotCompileException;
import javassist.ClassPool;
import javassist.CtClass;
import javassist.CtMethod;
import javassist.expr.ExprEditor;
import javassist.expr.MethodCall;

/** Writes a repaired Kafka class into a directory. The arguments are the name of the repair and the directory. */
public class Repair {
    public static void main(String[] arguments) throws Exception {
        ClassPool pool = ClassPool.getDefault();
        CtClass repaired = switch (arguments[0]) {
            case "rejected-expansion" -> advanceAfterRejection(pool.get("kafka.cluster.Partition"));
            case "fetch-before-registration" -> requireBrokerEpoch(pool.get("kafka.cluster.Partition"));
            case "consumer-position" -> compareEpochs(
                    pool.get("org.apache.kafka.clients.consumer.internals.SubscriptionState"));
            case "restarted-leader" -> keepEveryBatch(
                    pool.get("org.apache.kafka.storage.internals.log.ProducerStateManager"));
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

    /**
     * A producer snapshot has an entry for each batch in memory, in the order of the sequence numbers. A broker without
     * the repair keeps the last entry of a producer.
     */
    private static CtClass keepEveryBatch(CtClass manager) throws Exception {
        method(manager, "writeSnapshot").instrument(new ExprEditor() {
            @Override
            public void edit(MethodCall call) throws CannotCompileException {
                if (!call.getClassName().equals("java.util.List") || !call.getMethodName().equals("add")) {
                    return;
                }
                call.replace("""
                        {
                            java.util.Iterator batches = entry.batchMetadata().iterator();
                            while (batches.hasNext()) {
                                org.apache.kafka.storage.internals.log.BatchMetadata batch =
                                    (org.apache.kafka.storage.internals.log.BatchMetadata) batches.next();
                                if (batches.hasNext()) {
                                    $0.add(producerEntry.duplicate()
                                        .setLastSequence(batch.lastSeq())
                                        .setLastOffset(batch.lastOffset())
                                        .setOffsetDelta(batch.offsetDelta())
                                        .setTimestamp(batch.timestamp()));
                                }
                            }
                            $_ = $proceed($$);
                        }""");
            }
        });
        method(manager, "loadProducerEntry").insertBefore("""
                {
                    org.apache.kafka.storage.internals.log.ProducerStateEntry known =
                        (org.apache.kafka.storage.internals.log.ProducerStateEntry)
                            producers.get(Long.valueOf($1.producerId()));
                    if (known != null) {
                        known.update($1);
                        $1 = known;
                    }
                }""");
        return manager;
    }

    private static CtMethod method(CtClass owner, String name) throws Exception {
        CtMethod[] found = owner.getDeclaredMethods(name);
        if (found.length != 1) {
            throw new IllegalStateException(owner.getName() + " has " + found.length + " methods " + name);
        }
        return found[0];
    }
}
