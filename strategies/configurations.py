"""Hypothesis strategies for protocols and configurations."""

from dataclasses import Field, fields
from typing import Any

from hypothesis import strategies as st

from epochfuzz.model.kafka.vocabulary.configuration import ACKS, MIN_REPLICAS, Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import MAX_REPLICAS
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, Protocol, choice_texts


@st.composite
def configurations(draw: st.DrawFn, *, max_replicas: int = MAX_REPLICAS) -> Configuration:
    """Draw a configuration with a random value for each setting.

    Examples shrink toward fewer replicas, no faults, and Kafka's durable settings.
    """
    replicas = draw(st.integers(MIN_REPLICAS, max_replicas))
    others = [setting for setting in fields(Configuration) if setting.name != "replicas"]
    return Configuration(replicas=replicas, **{setting.name: draw(_values(setting, replicas)) for setting in others})


def _values(setting: "Field[Any]", replicas: int) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a setting, given the number of replicas. The simplest value is the first."""
    if setting.name == "acks":
        return st.sampled_from(sorted(ACKS, reverse=True))
    if setting.name == "min_insync_replicas":
        return st.integers(1, replicas)
    if "low" in setting.metadata:
        return st.integers(setting.metadata["low"], setting.metadata["high"])
    return st.booleans()


def protocols() -> st.SearchStrategy[Protocol]:
    """Return a strategy for reference designs, such as `kip-320`, with or without replaced mechanisms.

    Examples shrink toward older designs without replacements.
    """
    switches = st.fixed_dictionaries({}, optional={name: st.sampled_from(choice_texts(name)) for name in MECHANISMS})
    generations = st.sampled_from(list(GENERATIONS.values()))
    return st.builds(lambda generation, choices: generation.with_choices(**choices), generations, switches)
