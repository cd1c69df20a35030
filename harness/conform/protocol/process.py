"""Run an adapter's process: exchange lines with it, limit its time and output, and leave no process behind.

epochfuzz reads the standard error of the process and keeps only its end, so an adapter may log any amount of text.
epochfuzz needs no thread, because it reads all output while it waits for a reply.
"""

import atexit
import os
import select
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind, SubjectFailed
from epochfuzz.harness.text.printable import paragraphs

MOST_LINE = 1 << 20
KEPT_OUTPUT = 2048
START_PATIENCE = 60.0  # seconds for the first reply, because a JVM may have to start on a busy machine
_PARTING_PATIENCE = 1.0  # seconds that a process has to exit after its standard input is closed
_COOKIE = "EPOCHFUZZ_SUBJECT"


class CommandError(Exception):
    """A command cannot be started. The message says why."""


class LineProcess:
    """A command that reads and writes lines, in a process group of its own. Raises CommandError if it cannot start."""

    def __init__(self, command: Sequence[str]) -> None:
        self._cookie = f"{_COOKIE}={uuid.uuid4().hex}"
        self._unread = bytearray()
        self._errors = bytearray()
        self._last_line = b""
        name, _, value = self._cookie.partition("=")
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=os.environ | {name: value},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CommandError(f"cannot run {command[0]!r}: {_why(error)}") from None
        atexit.register(self.kill)  # in case no caller closes it
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout.fileno()
        self._stderr = self._process.stderr.fileno()
        os.set_blocking(self._stdin.fileno(), False)  # a process that does not read must not block epochfuzz
        self._poll = select.poll()
        for output in (self._stdout, self._stderr):
            os.set_blocking(output, False)
            self._poll.register(output, select.POLLIN)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, line: bytes, patience: float) -> bytes:
        """Write a line, and return the reply without its line end. `patience` is in seconds. Raises SubjectFailed."""
        (reply,) = self.ask_each([line], patience)
        return reply

    def ask_each(self, lines: Sequence[bytes], patience: float) -> Iterator[bytes]:
        """Write lines, and yield the reply to each, within `patience` seconds per reply. Raises SubjectFailed.

        Lines are sent without waiting for earlier replies. While the process reads no input, epochfuzz reads the output
        of the process, because the process may be waiting to write.
        """
        self.expect_silence()
        unsent = b"".join(lines)
        for _ in lines:
            deadline = time.monotonic() + patience
            while True:
                unsent = unsent[self._written(unsent) :] if unsent else unsent
                if (end := self._unread.find(b"\n")) >= 0:
                    break
                what = "line was read" if unsent else "answer"
                self._wait(deadline, f"no {what} within {patience:g} s", writing=bool(unsent))
            self._last_line = bytes(self._unread[:end])
            del self._unread[: end + 1]
            yield self._last_line

    def expect_silence(self, seconds: float = 0.0) -> None:
        """Raise SubjectFailed if the process prints something within `seconds`, without a request."""
        if not self._unread:
            self._read_ready(seconds)
        if self._unread:
            message = "it printed more than the one line that answers; write log output to standard error"
            raise SubjectFailed(DiscrepancyKind.GARBAGE, message, self.output())

    def output(self) -> str:
        """Return the recent output, for a report: the last reply, unread stdout, and the end of stderr."""
        printed = self._last_line[:KEPT_OUTPUT] + b"\n" + self._unread[-KEPT_OUTPUT:]
        parts = {"stdout": _text(printed), "stderr": _text(self._errors)}
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)

    def close(self, patience: float = _PARTING_PATIENCE) -> None:
        """Close the input, wait up to `patience` seconds for the process to exit, and kill it and its children."""
        with suppress(OSError):
            self._stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """Kill the process, its group, and all processes that inherited its cookie (an environment variable)."""
        atexit.unregister(self.kill)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        _kill_those_with(self._cookie)

    def _written(self, unsent: bytes) -> int:
        """Write as much of `unsent` as the pipe takes, and return the number of written bytes.

        If the process has closed its input, return the length of `unsent`. The next read then detects that the
        process has ended.
        """
        try:
            return os.write(self._stdin.fileno(), unsent)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(unsent)

    def _wait(self, deadline: float, complaint: str, writing: bool) -> None:
        """Wait until there is output to read or, if `writing` is True, until the pipe has room.

        Raises SubjectFailed if a line is too long, if the process has closed its output, or after the deadline. The
        message after the deadline is `complaint`.
        """
        if len(self._unread) > MOST_LINE:
            raise SubjectFailed(DiscrepancyKind.FLOOD, f"a line of more than {MOST_LINE:,} bytes", self.output())
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise SubjectFailed(DiscrepancyKind.TIMEOUT, complaint, self.output())
        if writing:
            self._poll.register(self._stdin.fileno(), select.POLLOUT)
        try:
            self._read_ready(remaining)
        finally:
            if writing:
                self._poll.unregister(self._stdin.fileno())

    def _read_ready(self, seconds: float) -> None:
        for output, _ in self._poll.poll(seconds * 1000):
            if output not in (self._stdout, self._stderr):
                continue  # the pipe has room for writing
            try:
                data = os.read(output, 65536)
            except BlockingIOError:
                continue
            if output == self._stderr:
                self._errors = (self._errors + data)[-KEPT_OUTPUT:]
            else:
                self._unread += data
            if not data:
                self._poll.unregister(output)
                if output == self._stdout:
                    raise SubjectFailed(DiscrepancyKind.DIED, self._how_it_died(), self.output())

    def _how_it_died(self) -> str:
        try:
            status = self._process.wait(_PARTING_PATIENCE)
        except subprocess.TimeoutExpired:
            return "it closed its standard output"
        with suppress(BlockingIOError, SubjectFailed):
            self._read_ready(0)  # the last output before its death
        ended, how = ("was killed", f"by {_name_of(-status)}") if status < 0 else ("exited", f"with status {status}")
        if self._last_line:
            return f"it {ended} {how}"
        return f"your adapter {ended} before it answered the first request, {how}"


def _why(error: OSError | ValueError) -> str:
    """Return the reason why a command cannot be run."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)


def _text(data: bytes | bytearray) -> str:
    return paragraphs(data.decode(errors="replace").strip())


def _name_of(number: int) -> str:
    """Return the name of a signal, such as `SIGKILL`, or its number if it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _kill_those_with(cookie: str) -> None:
    """Kill all processes with the cookie in their environment, and wait up to a second until they have ended.

    This finds daemons, which leave their process group but seldom change their environment. Without /proc, it does
    nothing.
    """
    deadline = time.monotonic() + _PARTING_PATIENCE
    while (those := list(_processes_with(cookie))) and time.monotonic() < deadline:
        for pid in those:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _processes_with(cookie: str) -> Iterator[int]:
    # A pattern with /environ would call stat for each process, which fails if the process ends meanwhile.
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if cookie.encode() in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)
