package subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The log directory of a broker, and what is in it in the formats that have stayed the same.
 *
 * @param powerLost whether the machine lost power, and its log has not been recovered since
 */
record Disk(Path directory, boolean powerLost) {
    private static final String SEGMENT = "00000000000000000000.log";
    private static final String LOG_STARTS = "log-start-offset-checkpoint";

    Disk(Path directory) {
        this(directory, false);
    }

    /**
     * What a process that dies now leaves behind. A copy: Java's lock on a log directory cannot be had twice in one
     * process, whereas the lock of a process that is gone is gone too.
     */
    Disk copyTo(Path other) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path from : (Iterable<Path>) files::iterator) {
                if (!from.endsWith(".lock")) {
                    Files.copy(from, other.resolve(directory.relativize(from)));
                }
            }
            return new Disk(other);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The segments of the log, in order of their offsets; there may be several where a log was recovered. */
    List<Path> segments() {
        Path log = directory.resolve(Partitions.DIRECTORY);
        if (!Files.exists(log)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(log)) {
            return files.filter(file -> file.toString().endsWith(".log")).sorted().toList();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The first segment. A log that never rolls has only one, which starts at 0 until the log starts again. */
    Path segment() {
        Path first = directory.resolve(Partitions.DIRECTORY).resolve(SEGMENT);
        return Files.exists(first) ? first : segments().stream().findFirst().orElse(first);
    }

    /** The offset of the first record in the first segment. It may be deleted. */
    long firstOffset() {
        String name = segment().getFileName().toString();
        return Long.parseLong(name.substring(0, name.indexOf('.')));
    }

    /** The first offset whose record is not deleted. */
    long logStart() {
        return Math.max(firstOffset(), checkpointed(LOG_STARTS));
    }

    long size() {
        return segments().stream().mapToLong(Disk::sizeOf).sum();
    }

    private static long sizeOf(Path file) {
        try {
            return Files.size(file);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** What a broker would start with. */
    Replica replica() {
        List<Replica.Entry> log = Batches.onDisk(this);
        List<List<Long>> epochs = epochs();
        long leo = firstOffset() + log.size();
        if (powerLost && epochs != null) {
            // The checkpoint still has what recovery cuts (LogLoader.load); the model truncates it when power is lost.
            epochs.removeIf(entry -> entry.get(1) >= leo);
        }
        return new Replica(leo, Math.min(highWatermark(), leo), log, epochs, Decision.NOBODY, -1, null, false);
    }

    /** Truncates the log to so many of its bytes, as a machine does that loses power. */
    Disk loseAllBut(long bytes) {
        long left = bytes;
        for (Path file : segments()) {
            long size = sizeOf(file);
            try (FileChannel segment = FileChannel.open(file, StandardOpenOption.WRITE)) {
                segment.truncate(left);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            left = Math.max(0, left - size);
        }
        return new Disk(directory, true);
    }

    long highWatermark() {
        return checkpointed(Partitions.HIGH_WATERMARKS);
    }

    /** The offset in a checkpoint: a version, a count, and partition and offset a line. */
    private long checkpointed(String file) {
        return lines(directory.resolve(file)).stream()
                .filter(line -> line.startsWith(Partitions.CHECKPOINTED))
                .mapToLong(line -> Long.parseLong(line.substring(Partitions.CHECKPOINTED.length())))
                .findFirst().orElse(0);
    }

    /** leader-epoch-checkpoint: a version, a count, and epoch and start offset a line; null where there is none. */
    List<List<Long>> epochs() {
        Path checkpoint = directory.resolve(Partitions.DIRECTORY).resolve("leader-epoch-checkpoint");
        if (!Files.exists(checkpoint)) {
            return null;
        }
        List<List<Long>> entries = new ArrayList<>();
        for (String line : lines(checkpoint)) {
            String[] words = line.split(" ");
            entries.add(List.of(Long.parseLong(words[0]), Long.parseLong(words[1])));
        }
        return entries;
    }

    private static List<String> lines(Path checkpoint) {
        try {
            List<String> lines = Files.exists(checkpoint) ? Files.readAllLines(checkpoint) : List.of();
            return lines.subList(Math.min(2, lines.size()), lines.size());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
