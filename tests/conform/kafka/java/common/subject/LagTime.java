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
 * A broker with the setting {@code lag_time}, whose clock moves only at {@code lapse}. Its state of the followers'
 * fetches contains only fetches that the followers have sent.
 *
 * <p>To propose an ISR change of one replica only, a KafkaBroker simulates fetches or resets the lag clocks of other
 * replicas. With lag_time these values decide how far the high watermark may rise, so this class restores them.
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
            return null;  // a simulated fetch would make a leader up to 2.3 advance its high watermark
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

    /** Returns the actions that restore when each follower fetched last and was caught up last. */
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

    /** Since 3.3, a replica keeps these times in one immutable object. */
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
            throw new IllegalStateException("found no fields with the follower's fetch times in " + replica.getClass());
        }
        return back;
    }

    private static <S> Runnable putBack(AtomicReference<S> state) {
        S then = state.get();
        return () -> state.set(then);
    }
}
