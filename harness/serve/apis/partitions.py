"""Build the part of a response that has an entry for each topic and partition of the request."""

from collections.abc import Callable, Iterable
from typing import Any


def responses(topics: Iterable[Any], name: str, respond: Callable[[str, Any], Any]) -> list[dict[str, Any]]:
    """Return the parts of a response about the topics of a request, as a list.

    `name` is the field with the topic's name, in the request and in the response. `respond` returns the response for a
    partition of the request, given the topic's name and the partition.
    """

    def of_topic(topic: Any) -> dict[str, Any]:
        topic_name = getattr(topic, name)
        return {name: topic_name, "partitions": [respond(topic_name, each) for each in topic.partitions]}

    return [of_topic(topic) for topic in topics]
