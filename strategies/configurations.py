"""Strategies for what a schedule runs under: protocols and configurations."""

from hypothesis import strategies as st

from epochfuzz.model.configuration import ACKS, MAX_EPOCHS, MAX_RECORDS, MAX_REPLICAS, MIN_REPLICAS, Configuration
from epochfuzz.model.mechanisms import MECHANISMS
from epochfuzz.model.protocols import GENERATIONS, Protocol, choice_texts


@st.composite
def configurations(draw: st.DrawFn, *, max_replicas: int = MAX_REPLICAS) -> Configuration:
    """Any configuration; simpler has fewer replicas, no faults, and Kafka's durable settings."""
    replicas = draw(st.integers(MIN_REPLICAS, max_replicas))
    return Configuration(
        replicas=replicas,
        acks=draw(st.sampled_from(sorted(ACKS, reverse=True))),
        min_insync_replicas=draw(st.integers(1, replicas)),
        unclean_leader_election=draw(st.booleans()),
        power_loss=draw(st.booleans()),
        asynchronous_checkpoint=draw(st.booleans()),
        retries=draw(st.booleans()),
        consumer=draw(st.booleans()),
        controllers=draw(st.integers(1, 2)),
        transactions=draw(st.booleans()),
        records_per_fetch=draw(st.integers(1, MAX_RECORDS)),
        records=draw(st.integers(1, MAX_RECORDS)),
        epochs=draw(st.integers(0, MAX_EPOCHS)),
    )


def protocols() -> st.SearchStrategy[Protocol]:
    """A generation, or one with some of its mechanisms switched; simpler is an older generation, unchanged."""
    switches = st.fixed_dictionaries({}, optional={name: st.sampled_from(choice_texts(name)) for name in MECHANISMS})
    generations = st.sampled_from(list(GENERATIONS.values()))
    return st.builds(lambda generation, choices: generation.with_choices(**choices), generations, switches)
