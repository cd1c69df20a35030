import java.util.Arrays;
import java.util.List;
import javassist.CannotCompileException;
import javassist.ClassPool;
import javassist.CtClass;
import javassist.CtMethod;
import javassist.CtNewMethod;
import javassist.CtPrimitiveType;
import javassist.Modifier;
import javassist.NotFoundException;
import javassist.bytecode.LocalVariableAttribute;
import javassist.expr.ExprEditor;
import javassist.expr.MethodCall;

/**
 * Writes a repaired class of Kafka into a directory, which has to precede Kafka's jars in the class path. The repair
 * concerns the leader that is elected again. It rewrites a method in the released bytecode, so it needs no source code
 * of Kafka.
 */
public class Repair {
    private static final List<String> PARTITION = List.of("kafka.cluster.Partition", "org.apache.kafka.server.partition.Partition");

    public static void main(String[] words) throws Exception {
        ClassPool pool = ClassPool.getDefault();
        CtClass repaired = switch (words[0]) {
            case "every-epoch" -> forgetAtEveryEpoch(first(pool, PARTITION));
            case "missed-epoch" -> forgetAfterMissedEpoch(first(pool, PARTITION));
            default -> throw new IllegalArgumentException("no such repair: " + words[0]);
        };
        repaired.writeFile(words[1]);
    }

    /** Makes Partition.makeLeader reset all replicas at every new epoch, as for a new leader (isNewLeader). */
    private static CtClass forgetAtEveryEpoch(CtClass partition) throws Exception {
        int[] found = {0};
        for (CtMethod method : partition.getDeclaredMethods()) {
            if (!method.getName().equals("makeLeader") && !method.getName().startsWith("$anonfun$makeLeader$")) continue;
            method.instrument(new ExprEditor() {
                @Override
                public void edit(MethodCall call) throws CannotCompileException {
                    if (!call.getMethodName().equals("resetReplicaState")) return;
                    found[0]++;
                    call.replace("{ $" + firstFlag(call) + " = true; $_ = $proceed($$); }");
                }
            });
        }
        if (found[0] != 1) throw new IllegalStateException("makeLeader resets replicas " + found[0] + " times, and not once");
        return partition;
    }

    /** Returns the number of the first boolean parameter, counted from 1. In resetReplicaState this is isNewLeader. */
    private static int firstFlag(MethodCall call) throws CannotCompileException {
        try {
            return Arrays.asList(call.getMethod().getParameterTypes()).indexOf(CtPrimitiveType.booleanType) + 1;
        } catch (NotFoundException missing) {
            throw new CannotCompileException(missing);
        }
    }

    /** Changes Partition.makeLeader to isNewLeader = !isLeader || registration.leaderEpoch > leaderEpoch + 1. */
    private static CtClass forgetAfterMissedEpoch(CtClass partition) throws Exception {
        int rewritten = 0;
        for (CtMethod method : partition.getDeclaredMethods()) {
            if (method.getName().equals("makeLeader") || method.getName().startsWith("$anonfun$makeLeader$1")) {
                rewritten += rewrite(partition, method);
            }
        }
        if (rewritten != 1) throw new IllegalStateException("makeLeader asks isLeader " + rewritten + " times, and not once");
        return partition;
    }

    private static int rewrite(CtClass partition, CtMethod method) throws Exception {
        int[] found = {0};
        // the first parameter of a closure is the partition
        int parameter = Modifier.isStatic(method.getModifiers()) ? 1 : 0;
        if (method.getParameterTypes().length <= parameter) return 0;
        CtClass registration = method.getParameterTypes()[parameter];
        method.instrument(new ExprEditor() {
            @Override
            public void edit(MethodCall call) throws CannotCompileException {
                if (!call.getMethodName().equals("isLeader")) return;
                found[0]++;
                if (found[0] == 1) addLedUpTo(partition, registration);
                call.replace("{ $_ = $0.ledUpTo(" + variable(method, 1) + "); }");
            }
        });
        return found[0];
    }

    /**
     * Adds a method that returns whether the broker has led up to the epoch of the registration. Each leader change
     * raises the epoch by 1, so a gap of two epochs means that another broker may have led.
     */
    private static void addLedUpTo(CtClass partition, CtClass registration) throws CannotCompileException {
        boolean isField = Arrays.stream(registration.getFields()).anyMatch(field -> field.getName().equals("leaderEpoch"));
        String epoch = isField ? "registration.leaderEpoch" : "registration.leaderEpoch()";
        partition.addMethod(CtNewMethod.make("public boolean ledUpTo(" + registration.getName() + " registration) {"
            + " return isLeader() && " + epoch + " <= getLeaderEpoch() + 1; }", partition));
    }

    private static String variable(CtMethod method, int index) {
        LocalVariableAttribute table =
            (LocalVariableAttribute) method.getMethodInfo().getCodeAttribute().getAttribute(LocalVariableAttribute.tag);
        for (int i = 0; i < table.tableLength(); i++) {
            if (table.index(i) == index) return table.variableName(i);
        }
        throw new IllegalStateException(method + " has no variable " + index);
    }

    private static CtClass first(ClassPool pool, List<String> names) throws NotFoundException {
        for (String name : names) {
            CtClass found = pool.getOrNull(name);
            if (found != null) return found;
        }
        throw new NotFoundException(names.toString());
    }
}
