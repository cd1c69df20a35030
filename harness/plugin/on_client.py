"""Run case files as pytest items on the user's Kafka client. The ini file names its adapter (`epochfuzz_client`)."""

import shlex
from functools import cached_property

import pytest

from epochfuzz.harness.conform.client.client_subject import ClientSubject
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.protocol.subject import PATIENCE
from epochfuzz.harness.conform.run.block import BlockResult, FailedTrial
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.plugin.item import CaseTest, shared
from epochfuzz.harness.plugin.on_subject import CLIENT, NotAsInTheModel, command_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_CLIENT: pytest.StashKey[ClientSubject] = pytest.StashKey()


class ClientItem(CaseTest):
    """A test that runs a case on the client, while the model plays the brokers, and checks the client's guarantees."""

    @cached_property
    def plan(self) -> Plan:
        """The plan of `epochfuzz conform --client` with this case only."""
        return Plan(
            command=tuple(command_of(self.config, CLIENT)),
            protocols=[parse_protocol(self.protocol)],
            settings=self.case.settings,
            schedules=0,
            seed=0,
            cases=[self.case],
            judged_by=JudgedBy.PROMISES,
            is_client=True,
        )

    def runtest(self) -> None:
        """Run the case on the client. A known bug of the protocol does not fail the test.

        Raises NotAsInTheModel if the client breaks a guarantee or gives no report. Skips the test if the case tests
        nothing of the client.
        """
        protocol = parse_protocol(self.protocol)
        block, result = self.plan.block_of(protocol, 0), BlockResult()
        (trial,) = block.trials
        try:
            result.add(trial, protocol, block.run(_client(self.config), trial))
        except SubjectUnable as unable:
            pytest.skip(f"{self.case.id} under {self.protocol} tests nothing: {unable}")
        except CommandError as error:
            raise NotAsInTheModel(f"{CLIENT}: {error}") from None
        failed = [one for one in result.failed if one.known_flaw(protocol) is None]
        if failed:
            raise NotAsInTheModel("\n".join([*self._complaints(failed), self._reproduce()]))

    def _complaints(self, failed: list[FailedTrial]) -> list[str]:
        lines = [f"{self.case.id} under {self.protocol} fails on the client:"]
        for one in failed:
            lines.append(f"after {len(one.sighting.sent)} events: {one.fault.kind}: {one.fault.sentence}")
            lines += [one.fault.output] if one.fault.output else []
        return lines

    def _reproduce(self) -> str:
        words = ["epochfuzz", "conform", "--client", "--protocol", self.protocol, "--corpus", self.path_from_root]
        return shlex.join([*words, "--schedules", "0", "--", *self.plan.command])


def close(config: pytest.Config) -> None:
    """End the client's process, if one was started."""
    subject = config.stash.get(_CLIENT, None)
    if subject is not None:
        subject.close()


def _client(config: pytest.Config) -> ClientSubject:
    """Return the client that all cases of this pytest process share."""
    return shared(config, _CLIENT, lambda: ClientSubject(command_of(config, CLIENT), PATIENCE))
