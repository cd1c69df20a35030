"""The version of epochfuzz, and the version of the rules of its model."""

from importlib import metadata


def epochfuzz_version() -> str:
    """Return the version, such as `0.1.0`; `not installed` if the sources run without a distribution."""
    try:
        return metadata.version("epochfuzz")
    except metadata.PackageNotFoundError:
        return "not installed"


def model_digest() -> str:
    """Return the version of Kafka's rules: sixteen hexadecimal digits for the sources of the model and the kernels."""
    from epochfuzz.harness.engine.runtime.compilation import digest_of  # loads Numba, which takes time
    from epochfuzz.model.kafka.kafka_model import KAFKA

    return digest_of(KAFKA)
