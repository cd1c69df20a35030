"""The configuration of a partition that clients use."""

from dataclasses import replace

from epochfuzz.model.kafka.vocabulary.configuration import Configuration


def settings_for_clients(settings: Configuration) -> Configuration:
    """Return a configuration with the consumer, and with retries, because clients may always send a record again."""
    return replace(settings, consumer=True, retries=settings.acks == "all")
