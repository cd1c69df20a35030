package subject;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import scala.Option;

/**
 * A broker whose clock moves in `lapse` only: what it has noted of its followers' fetches is what they did.
 *
 * <p>To propose a change of the ISR for one replica alone, a KafkaBroker makes up fetches or resets clocks of others.
 * Where time decides how far a high watermark may rise, these must leave no trace.
 */
final class LagTime {
    private final KafkaBroker broker;
    private final Host host;

    private LagTime(KafkaBroker broker, Host host) {
        this.broker = broker;
        this.host = host;
    }

    static Broker of(KafkaBroker broker, Host host) {
        LagTime kept = new LagTime(broker, host);
        return (Broker) Proxy.newProxyInstance(
                Broker.class.getClassLoader(), new Class<?>[] {Broker.class}, (proxy, method, given) -> kept.call(method, given));
    }

    private Object call(Method method, Object[] given) throws Throwable {
        if (!method.getName().startsWith("propose")) {
            return invoke(method, given);
        }
        int follower = (Integer) given[0];
        if (method.getName().equals("proposeExpand") && broker.remoteLeo(follower) < broker.replica().hw()) {
            return null;  // a fetch that is made up would make a leader up to 2.3 evaluate its high watermark
        }
        List<Runnable> back = noted();
        try {
            return invoke(method, given);
        } finally {
            back.forEach(Runnable::run);
        }
    }

    private Object invoke(Method method, Object[] given) throws Throwable {
        try {
            method.setAccessible(true);
            return method.invoke(broker, given);
        } catch (InvocationTargetException failed) {
            throw failed.getCause();
        }
    }

    /** What puts back when each follower fetched last and was caught up last. */
    private List<Runnable> noted() throws ReflectiveOperationException {
        List<Runnable> back = new ArrayList<>();
        Method ofBroker = KafkaBroker.class.getDeclaredMethod("partition");
        ofBroker.setAccessible(true);
        Object partition = ofBroker.invoke(broker);
        for (int id = 0; partition != null && id < host.settings().replicas(); id++) {
            Option<?> replica = (Option<?>) partition.getClass().getMethod("getReplica", int.class).invoke(partition, id);
            if (id != host.id() && replica.isDefined()) {
                back.addAll(noted(replica.get()));
            }
        }
        return back;
    }

    /** Since 3.3 these are one immutable value. */
    private static List<Runnable> noted(Object replica) throws ReflectiveOperationException {
        List<Runnable> back = new ArrayList<>();
        for (Field field : replica.getClass().getDeclaredFields()) {
            field.setAccessible(true);
            if (field.getName().startsWith("lastFetch") || field.getName().endsWith("lastCaughtUpTimeMs")) {
                long then = field.getLong(replica);
                back.add(() -> Reflect.set(replica, replica.getClass(), field.getName(), then));
            } else if (field.get(replica) instanceof AtomicReference<?> state) {
                back.add(putBack(state));
            }
        }
        if (back.isEmpty()) {
            throw new IllegalStateException("nothing is known of a follower's fetches in " + replica.getClass());
        }
        return back;
    }

    private static <S> Runnable putBack(AtomicReference<S> state) {
        S then = state.get();
        return () -> state.set(then);
    }
}
