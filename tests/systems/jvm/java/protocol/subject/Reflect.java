package subject;

import java.lang.reflect.Field;

/** Fields of Kafka's objects for which there is no other way. */
final class Reflect {
    private Reflect() { }

    static Object get(Object owner, Class<?> type, String name) {
        try {
            return field(type, name).get(owner);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    static void set(Object owner, Class<?> type, String name, Object value) {
        try {
            field(type, name).set(owner, value);
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
