"""The subject's process: a line in, a line out, each within a time and a size; at the end nothing of it remains.

Standard error is read along and its end kept, so that a subject may log as much as it likes. Nothing here is a thread:
everything is read while a reply is waited for.
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

from epochfuzz.harness.conform.oracle.fault import Kind, SubjectFailed
from epochfuzz.harness.printable import paragraphs

MOST_LINE = 1 << 20
KEPT_OUTPUT = 2048
START_PATIENCE = 60.0  # for the first reply of a process: a virtual machine may have to start on a busy machine
_PARTING_PATIENCE = 1.0  # how long a process has for leaving by itself once its standard input is closed
_COOKIE = "EPOCHFUZZ_SUBJECT"


class CommandError(Exception):
    """A command that cannot be started; the message says why."""


class LineProcess:
    """A command in a process group of its own, spoken to in lines."""

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
            raise CommandError(f"{command[0]!r} cannot be started: {error}") from None
        atexit.register(self.kill)  # if nobody closes it
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout.fileno()
        self._stderr = self._process.stderr.fileno()
        os.set_blocking(self._stdin.fileno(), False)  # a process that does not read would be waited for for ever
        self._poll = select.poll()
        for output in (self._stdout, self._stderr):
            os.set_blocking(output, False)
            self._poll.register(output, select.POLLIN)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, line: bytes, patience: float) -> bytes:
        """Write a line and read the one in reply, without its end. Raises SubjectFailed."""
        (reply,) = self.ask_each([line], patience)
        return reply

    def ask_each(self, lines: Sequence[bytes], patience: float) -> Iterator[bytes]:
        """Write lines, and read the one in reply to each, for which there is so much time. Raises SubjectFailed.

        A line is not held back until the reply to the one before is there. While the pipe is full, what the process
        prints is read: it may be waiting for that.
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
        """Nobody has asked for more, so nothing more should come, for so long at least. Raises SubjectFailed."""
        if not self._unread:
            self._read_ready(seconds)
        if self._unread:
            raise SubjectFailed(Kind.GARBAGE, "it printed more than the one line that answers", self.output())

    def output(self) -> str:
        """Return what it printed last, for people: the last line read, what came after it, and the end
        of standard error.
        """
        printed = self._last_line[:KEPT_OUTPUT] + b"\n" + self._unread[-KEPT_OUTPUT:]
        parts = {"stdout": _text(printed), "stderr": _text(self._errors)}
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)

    def close(self, patience: float = _PARTING_PATIENCE) -> None:
        """End of input; whoever is still there after a while is killed, children included."""
        with suppress(OSError):
            self._stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """Kill the process, its group, and those who left the group but still carry its cookie."""
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
        """How much of what is to be written was; all, if the process reads no more: reading finds out about that."""
        try:
            return os.write(self._stdin.fileno(), unsent)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(unsent)

    def _wait(self, deadline: float, complaint: str, writing: bool) -> None:
        """Wait until there is more to read, or to write. Raises SubjectFailed: with a complaint once it is too late."""
        if len(self._unread) > MOST_LINE:
            raise SubjectFailed(Kind.FLOOD, f"a line of more than {MOST_LINE:,} bytes", self.output())
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise SubjectFailed(Kind.TIMEOUT, complaint, self.output())
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
                continue  # it can be written to
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
                    raise SubjectFailed(Kind.DIED, self._how_it_died(), self.output())

    def _how_it_died(self) -> str:
        try:
            status = self._process.wait(_PARTING_PATIENCE)
        except subprocess.TimeoutExpired:
            return "it closed its standard output"
        with suppress(BlockingIOError, SubjectFailed):
            self._read_ready(0)  # its last words
        return f"it was killed by {_name_of(-status)}" if status < 0 else f"it exited with status {status}"


def _text(data: bytes | bytearray) -> str:
    return paragraphs(data.decode(errors="replace").strip())


def _name_of(number: int) -> str:
    """Return the name of a signal. Most of the real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _kill_those_with(cookie: str) -> None:
    """Kill whoever inherited the environment entry, and wait until they are gone.

    A daemon leaves its process group, but seldom cleans its environment. Where there is no /proc, the group has to do.
    """
    deadline = time.monotonic() + _PARTING_PATIENCE
    while (those := list(_processes_with(cookie))) and time.monotonic() < deadline:
        for pid in those:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _processes_with(cookie: str) -> Iterator[int]:
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if cookie.encode() in environment.read_bytes().split(b"\0"):
                yield int(environment.parent.name)
