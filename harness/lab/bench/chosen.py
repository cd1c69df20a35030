"""Compare the ways to select schedules for a conformance test: at random, for coverage, and by known bugs.

The measure is the number of steps until a test detects a mutant (the model with one wrong rule). The benchmark runs the
mutant in this process, in lockstep with the correct model. An adapter with the same behaviour needs the same number of
steps.

`python -m epochfuzz.harness.lab.bench.chosen` prints the table of docs/explain/coverage.md. Set the number of seeds
with `--seeds N` (by default 20) and the first seed with `--from S` (by default 0).
"""

import argparse
from collections.abc import Iterator
from itertools import count
from statistics import median
from typing import Any

from epochfuzz.harness.conform.oracle.lockstep import LockStep
from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.harness.lab.mutants import DEFECTS
from epochfuzz.harness.lab.mutants.mutant import Mutant, in_place_of
from epochfuzz.harness.lab.mutants.proofs import proofs
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.partition import leadership
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.state import NONE, State

MOST = 500_000  # steps; a mutant that needs more steps counts as missed
_SETTINGS = Configuration(replicas=3)


@in_place_of(
    leadership.lead,
    "a leader that is elected again forgets the positions of followers outside the new ISR",
    protocol="kafka-2.8.1",
)
def outsiders_forgotten_by_a_staying_leader(p: State, r: int, led_before: bool, members: int) -> None:
    """Let a leader that is elected again forget the positions of followers outside the new ISR.

    epochfuzz's own model once made this mistake, which breaks no property. Kafka behaves differently.
    """
    for follower in range(p.replicas):
        if led_before and not members >> follower & 1:
            p.remote_leos[r, follower] = NONE
    leadership.lead(p, r, led_before, members)


outsiders_forgotten_by_a_staying_leader.plant(len(DEFECTS) + 1)


def mistakes() -> list[Mutant]:
    """Return the mutants whose proof (a shortest detecting schedule) needs three replicas, and one more mutant.

    The additional mutant is a mistake that the model itself once had.
    """
    needing = {name for name, proof in proofs().items() if proof.settings.replicas == _SETTINGS.replicas}
    return [*(each for each in DEFECTS if each.name in needing), outsiders_forgotten_by_a_staying_leader]


def steps_until_seen(mistake: Mutant, selection: Selection, seed: int, most: int = MOST) -> int | None:
    """Return the number of steps until a mutant first differs from the model.

    Returns None if the first `most` steps show no difference.
    """
    steps = 0
    for number in count():
        drawn = schedule(selection, mistake.sound_protocol, _SETTINGS, seed, number)
        for differs in played(mistake, drawn):
            steps += 1
            if differs:
                return steps
            if steps == most:
                return None
    return None


def played(mistake: Mutant, drawn: bytes) -> Iterator[bool]:
    """Run a schedule on the model and on the mutant. Yields, after each event, whether model and mutant differ.

    Events that exceed the bounds of the model are skipped.
    """
    model = LockStep(mistake.sound_protocol, _SETTINGS)
    reference = Execution(mistake.sound_protocol, _SETTINGS)
    subject = Execution(mistake.broken_protocol, _SETTINGS)
    for event in drawn:
        if not model.advance(event):
            continue
        applied = reference.apply(event)
        yield subject.apply(event) != applied or (applied and seen(subject) != seen(reference))


def seen(execution: Execution) -> tuple[dict[str, Any], int]:
    """Return everything that an adapter can show: the observable state, and the set of acknowledged records as bits."""
    return observe(execution.state), int(execution.state.acked)


def main() -> None:
    """Print the table of docs/explain/coverage.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("mistakes", nargs="*", help="only these")
    asked = parser.parse_args()
    print(f"| mutant | events of the shortest | {' | '.join(Selection)} |")
    print("|---|---|---|---|---|")
    for mistake in mistakes():
        if asked.mistakes and mistake.name not in asked.mistakes:
            continue
        medians = []
        for selection in Selection:
            taken = [
                steps_until_seen(mistake, selection, seed) for seed in range(asked.first, asked.first + asked.seeds)
            ]
            medians.append(median(MOST if steps is None else steps for steps in taken))
        proof = proofs().get(mistake.name)
        shortest = "?" if proof is None else str(len(proof.shortest))
        figures = " | ".join(f"{each:,.0f}" for each in medians)
        print(f"| {mistake.name} | {shortest} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
