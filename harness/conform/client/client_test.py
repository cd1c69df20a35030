"""Conformance tests of Kafka clients for pytest: the random schedules of `epochfuzz conform --client`.

Hypothesis does not draw these schedules. It requires an example to have the same result in every run, and the requests
of a client may come too late in one of two runs. `run` repeats each failure, and shrinks it itself.
"""

from dataclasses import replace
from typing import ClassVar
from unittest import TestCase

from hypothesis import settings as hypothesis_settings

from epochfuzz.harness.conform.run.attempts import MOST_SECONDS
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.machine import nonconformance
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import run
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.harness.environment.seeds import random_seed


class ClientTest(TestCase):
    """Runs the random schedules of a plan on a client. The Hypothesis profile sets their number.

    `nonconformity` is the failure, once there is one, and `sent` has its events.
    """

    plan: ClassVar[Plan]
    nonconformity: ConformanceFinding | None = None
    sent: bytes = b""

    def test_random_schedules(self) -> None:
        """Run the schedules. Raises NonConformance for the most severe failure that is no known bug."""
        profile = hypothesis_settings()
        seed = 0 if profile.derandomize else random_seed()
        plan = replace(self.plan, schedules=profile.max_examples, seed=seed)
        conformance = run(plan, Processes(shrinking=MOST_SECONDS))
        if conformance.interrupted:
            raise KeyboardInterrupt
        if conformance.ended_by is not None:
            raise conformance.ended_by
        for each in conformance.nonconformities:
            if each.known_flaw is None:
                self.nonconformity, self.sent = each, each.sighting.sent
                raise nonconformance(each.fault, each.sighting.sent, f"; schedule {each.trial.number} of seed {seed}")
