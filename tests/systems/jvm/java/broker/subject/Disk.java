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
 * A broker's log directory, with readers for the file formats that are the same in all releases.
 *
 * @param powerLost whether the machine has lost power and the broker has not recovered the log since
 */
record Disk(Path directory, boolean powerLost) {
    private static final String SEGMENT = "00000000000000000000.log";
    private static final String LOG_STARTS = "log-start-offset-checkpoint";

    Disk(Path directory) {
        this(directory, false);
    }

    /**
     * Returns a copy of the files that a process leaves behind if it dies now. The lock file is left out. The copy is
     * necessary because one JVM cannot lock the same log directory twice, whereas the operating system frees the lock
     * of a dead process.
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

    /** Returns the segment files of the log, in the order of their offsets. A recovered log may have several. */
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

    /**
     * Returns the first segment. A log that never rolls has one segment only. Its base offset is 0 until the follower
     * truncates fully and restarts the log at the leader's log start.
     */
    Path segment() {
        Path first = directory.resolve(Partitions.DIRECTORY).resolve(SEGMENT);
        return Files.exists(first) ? first : segments().stream().findFirst().orElse(first);
    }

    /**
     * Returns the base offset of the first segment. Its first record may already be deleted, that is, below the log
     * start offset.
     */
    long firstOffset() {
        String name = segment().getFileName().toString();
        return Long.parseLong(name.substring(0, name.indexOf('.')));
    }

    /** Returns the log start offset: the first offset whose record is not deleted. */
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

    /** Returns the state with which a broker would start from this disk. */
    Replica replica() {
        List<Replica.Entry> log = Batches.onDisk(this);
        List<List<Long>> epochs = epochs();
        long leo = firstOffset() + log.size();
        if (powerLost && epochs != null) {
            // The checkpoint still has entries that recovery removes (LogLoader.load). The model removes them at the
            // power loss.
            epochs.removeIf(entry -> entry.get(1) >= leo);
        }
        return new Replica(leo, Math.min(highWatermark(), leo), log, epochs, Decision.NOBODY, -1, null, false);
    }

    /** Truncates the log to its first {@code bytes} bytes, as a loss of power does. */
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

    /**
     * Reads the offset from a checkpoint file: a version, a count, then one line with partition and offset for each
     * partition.
     */
    private long checkpointed(String file) {
        return lines(directory.resolve(file)).stream()
                .filter(line -> line.startsWith(Partitions.CHECKPOINTED))
                .mapToLong(line -> Long.parseLong(line.substring(Partitions.CHECKPOINTED.length())))
                .findFirst().orElse(0);
    }

    /**
     * Reads leader-epoch-checkpoint: a version, a count, then one line with epoch and start offset for each entry.
     * Returns null if the file does not exist.
     */
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
