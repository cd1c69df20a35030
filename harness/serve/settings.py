"""The configuration of a partition that clients use."""

from dataclasses import replace

from epochfuzz.model.kafka.vocabulary.configuration import Configuration


def settings_for_clients(settings: Configuration) -> Configuration:
    """Return a configuration with a consumer. With acks=all it also has retries, because clients may resend records."""
    return replace(settings, consumer=True, retries=settings.acks == "all")
