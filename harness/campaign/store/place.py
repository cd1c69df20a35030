"""Places: what a text says of where a campaign is, and a campaign's own hold on that directory while it works there."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from epochfuzz.harness.campaign.store.errors import CampaignError

# What Hadoop takes for a URL. It splits off the scheme and the authority, and decodes nothing: the rest is a path, in
# which '#' and '%' are characters like any others.
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?=/)(?://[^/]*)?(?P<path>/.*)?", re.DOTALL)
_TEMPORARY = "temporary"


def absolute(text: str) -> str:
    """Return a URL as it is, anything else as an absolute path."""
    return text if _URL.fullmatch(text) else os.path.abspath(text)


def on_this_machine(text: str) -> Path | None:
    """Return the path that a text means, None for what is elsewhere."""
    url = _URL.fullmatch(text)
    if url is None:
        return Path(os.path.abspath(text))
    return Path(url["path"] or "/") if url["scheme"].lower() == "file" else None


@contextmanager
def held(directory: Path) -> Iterator[Path]:
    """Work in a directory as the only process that does; what it is given is a directory for whatever is temporary.

    The kernel lets go of the directory when the process ends in whatever way. What one that was killed has left in the
    temporary directory is removed by the next one. Raises CampaignError.
    """
    made = [place for place in (directory, *directory.parents) if not place.exists()]
    temporary = directory / _TEMPORARY
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError as error:
        raise CampaignError(f"{directory} cannot be written: {error.strerror}") from None
    try:
        if not _lock(descriptor, fcntl.LOCK_EX):
            raise CampaignError(
                f"another process works on {directory}; `epochfuzz campaign report {directory}` shows how far it is"
            )
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir()
        except OSError as error:
            raise CampaignError(f"{directory} cannot be written: {error.strerror}") from None
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            with suppress(OSError):  # the first that something was written to stays
                for place in made:
                    place.rmdir()
    finally:
        os.close(descriptor)


def is_held(directory: Path) -> bool:
    """Whether a process works in a directory at this moment."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, how: int) -> bool:
    """Whether a directory is now locked by this process. One on a file system without locks counts as locked."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
