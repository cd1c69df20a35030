"""The version of epochfuzz that runs."""

from importlib import metadata


def epochfuzz_version() -> str:
    """As in `0.1.0`; `not installed` where the sources run without a distribution."""
    try:
        return metadata.version("epochfuzz")
    except metadata.PackageNotFoundError:
        return "not installed"
