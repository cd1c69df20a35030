package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Directories of brokers. */
final class Disk {
    private static final String FIRST_FILE = "00000000000000000000";

    private Disk() { }

    /**
     * A broker that has not been written to. It has the first file of its log, for a master whose log has no file lets
     * half a second pass before it looks again.
     */
    static Path create(Path directory) {
        try {
            Path file = Files.createDirectories(directory.resolve("commitlog")).resolve(FIRST_FILE);
            Files.write(file, new byte[Broker.FILE_SIZE]);
            return directory;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** What a process that is killed now leaves behind. RocksDB has nothing of the log in it, and is made anew. */
    static Path copy(Path from, Path to) {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path each : (Iterable<Path>) files.filter(each -> !isOfRocksDb(from, each))::iterator) {
                Files.copy(each, to.resolve(from.relativize(each)));
            }
            return to;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static boolean isOfRocksDb(Path root, Path each) {
        return !each.equals(root) && root.relativize(each).getName(0).toString().startsWith("rocksdb");
    }
}
