package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The directories of the brokers. */
final class Disk {
    private static final String FIRST_FILE = "00000000000000000000";

    private Disk() { }

    /**
     * Creates the directory of an empty broker, with the first file of the log. Without this file, a master would wait
     * for half a second before it looks again.
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

    /**
     * Copies the files that a process leaves behind if it is killed now. RocksDB's files are left out, because they
     * contain no part of the log and are created again.
     */
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
