package subject;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import scala.Function0;
import scala.Function1;
import scala.Function2;
import scala.Option;
import scala.collection.JavaConverters;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/** Conversions between Java and Scala collections and functions, with classes that Scala 2.11 to 2.13 share. */
final class Scala {
    private Scala() { }

    static <A> scala.collection.mutable.Buffer<A> seq(List<A> list) {
        return JavaConverters.asScalaBufferConverter(list).asScala();
    }

    static <A> scala.collection.Iterable<A> iterable(List<A> list) {
        return seq(list);
    }

    @SuppressWarnings("unchecked")
    static <A> scala.collection.immutable.List<Object> ints(List<Integer> list) {
        return (scala.collection.immutable.List<Object>) (Object) seq(list).toList();
    }

    static <A> List<A> list(scala.collection.Iterable<A> items) {
        List<A> list = new ArrayList<>();
        for (scala.collection.Iterator<A> each = items.iterator(); each.hasNext();) {
            list.add(each.next());
        }
        return list;
    }

    static <K, V> scala.collection.mutable.Map<K, V> map(Map<K, V> map) {
        return JavaConverters.mapAsScalaMapConverter(map).asScala();
    }

    static <K, V> Map<K, V> map(scala.collection.Map<K, V> map) {
        return JavaConverters.mapAsJavaMapConverter(map).asJava();
    }

    /** Converts Scala's Int, which Java's compiler sees as Object. */
    static Set<Integer> ints(scala.collection.Iterable<?> items) {
        Set<Integer> set = new TreeSet<>();
        for (Object item : list(items)) {
            set.add((Integer) item);
        }
        return set;
    }

    static int intOr(Option<?> option, int otherwise) {
        return option.isDefined() ? (Integer) option.get() : otherwise;
    }

    static <A> Function0<A> supplier(Supplier<A> supplier) {
        return new AbstractFunction0<A>() {
            @Override public A apply() {
                return supplier.get();
            }
        };
    }

    static <A> Function1<A, BoxedUnit> consumer(Consumer<A> consumer) {
        return new AbstractFunction1<A, BoxedUnit>() {
            @Override public BoxedUnit apply(A item) {
                consumer.accept(item);
                return BoxedUnit.UNIT;
            }
        };
    }

    /** Returns a callback that does nothing. */
    static <A, B> Function2<A, B, BoxedUnit> ignore() {
        return new AbstractFunction2<A, B, BoxedUnit>() {
            @Override public BoxedUnit apply(A first, B second) {
                return BoxedUnit.UNIT;
            }
        };
    }
}
