package subject;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import sun.misc.Unsafe;

/** Access by reflection to private members, where a system has no other access. */
public final class Reflect {
    private Reflect() { }

    public static Object get(Object owner, Class<?> type, String name) {
        try {
            return field(type, name).get(owner);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    public static void set(Object owner, Class<?> type, String name, Object value) {
        try {
            field(type, name).set(owner, value);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Calls a method with one parameter, and returns its result. */
    public static Object call(Object owner, Class<?> type, String name, Class<?> parameter, Object argument) {
        try {
            Method method = type.getDeclaredMethod(name, parameter);
            method.setAccessible(true);
            return method.invoke(owner, argument);
        } catch (InvocationTargetException failed) {
            throw new IllegalStateException(failed.getCause());
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Returns an object without a call of its constructor, which would open a connection or start a thread. */
    public static <T> T allocate(Class<T> type) {
        try {
            Field unsafe = Unsafe.class.getDeclaredField("theUnsafe");
            unsafe.setAccessible(true);
            return type.cast(((Unsafe) unsafe.get(null)).allocateInstance(type));
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static Field field(Class<?> type, String name) throws NoSuchFieldException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
