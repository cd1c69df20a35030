"""The version of epochfuzz, and a digest of its model's rules."""

from importlib import metadata


def epochfuzz_version() -> str:
    """Return the installed version, such as `0.2.0`, or `not installed` if epochfuzz runs from its sources."""
    try:
        return metadata.version("epochfuzz")
    except metadata.PackageNotFoundError:
        return "not installed"


def model_digest() -> str:
    """Return a digest of the sources of the model and the compiled engine: 16 hexadecimal digits."""
    from epochfuzz.harness.engine.runtime.compilation import digest_of  # loads Numba, which takes time
    from epochfuzz.model.kafka.kafka_model import KAFKA

    return digest_of(KAFKA)
