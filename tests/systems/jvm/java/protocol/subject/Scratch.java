package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The parent directory of all disks of this process: in memory (/dev/shm) if possible. */
final class Scratch {
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final int ATTEMPTS = 100;

    private Scratch() {
    }

    /**
     * Creates the directory, which is deleted when the process ends. Also deletes the directories that killed processes
     * left.
     */
    static Path create(String prefix) throws IOException {
        Path parent = Files.isDirectory(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        try (Stream<Path> there = Files.list(parent)) {
            there.filter(path -> isLeft(path.getFileName().toString(), prefix)).forEach(Scratch::delete);
        }
        Path made = Files.createDirectory(parent.resolve(prefix + ProcessHandle.current().pid()));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(made)));
        return made;
    }

    private static boolean isLeft(String name, String prefix) {
        String pid = name.startsWith(prefix) ? name.substring(prefix.length()) : "";
        return pid.matches("\\d{1,18}") && ProcessHandle.of(Long.parseLong(pid)).isEmpty();
    }

    /** Deletes a directory. It tries again if a thread of the system writes into the directory at the same time. */
    static void delete(Path directory) {
        for (int attempt = 0; Files.exists(directory) && attempt < ATTEMPTS; attempt++) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path each : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                    Files.deleteIfExists(each);
                }
            } catch (IOException | UncheckedIOException again) {
                continue;
            }
        }
    }
}
