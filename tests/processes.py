"""Find the processes that a test has started."""

from pathlib import Path


def processes_with(name: str, value: str) -> dict[int, str]:
    """Return the command lines of all live processes with a variable in their environment, by process id."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # the process has ended, or belongs to another user
            continue
        if f"{name}={value}".encode() in environment:
            found[int(process.name)] = line
    return found
