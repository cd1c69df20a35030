"""Parse the location of a campaign's directory, and lock the directory while a process works in it."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.environment.locks import take_lock

# A URL as Hadoop parses it: a scheme, an authority, and a path. Hadoop decodes nothing, so '#' and '%' are ordinary
# characters of the path.
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?=/)(?://[^/]*)?(?P<path>/.*)?", re.DOTALL)
TEMPORARY = "temporary"


def absolute(text: str) -> str:
    """Return the text of a location: a URL unchanged, and a path as an absolute path."""
    return text if _URL.fullmatch(text) else os.path.abspath(text)


def on_this_machine(text: str) -> Path | None:
    """Return the path of a location on this machine, or None for a URL of another file system."""
    url = _URL.fullmatch(text)
    if url is None:
        return Path(os.path.abspath(text))
    return Path(url["path"] or "/") if url["scheme"].lower() == "file" else None


@contextmanager
def held(directory: Path) -> Iterator[Path]:
    """Lock a directory until the with statement ends. Yields a subdirectory for temporary files.

    Creates the directory if necessary. The kernel releases the lock when the process ends, even if it is killed. The
    next process removes the temporary files that a killed process left. Raises CampaignError if the directory is locked
    or cannot be written.
    """
    made = [place for place in (directory, *directory.parents) if not place.exists()]
    temporary = directory / TEMPORARY
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError as error:
        raise CampaignError(f"{directory} cannot be written: {error.strerror}; choose another directory") from None
    try:
        if not take_lock(descriptor):
            raise CampaignError(
                f"another process works on {directory}; wait until it ends, or choose another directory"
            )
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir()
        except OSError as error:
            raise CampaignError(f"{directory} cannot be written: {error.strerror}; choose another directory") from None
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            with suppress(OSError):  # a directory that is not empty stays
                for place in made:
                    place.rmdir()
    finally:
        os.close(descriptor)


def is_held(directory: Path) -> bool:
    """Return whether a process has locked a directory with `held`."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not take_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)
