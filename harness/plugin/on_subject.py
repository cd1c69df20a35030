"""Run case files as pytest items on the user's adapter. The ini file names the adapter (`epochfuzz_subject`)."""

import shlex

import pytest

from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import Rerun, rerun
from epochfuzz.harness.plugin.item import CaseFailed, CaseTest, shared
from epochfuzz.harness.trace.replay import broken_text
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

SUBJECT, CLIENT = "epochfuzz_subject", "epochfuzz_client"  # settings of the ini file
_SUBJECT: pytest.StashKey[CommandSubject] = pytest.StashKey()


class NotAsInTheModel(CaseFailed):
    """A case has another result on the system under test than in the model. The message lists the differences."""


class SubjectItem(CaseTest):
    """A test that replays a case on the system under test and in the model, and compares the two results."""

    def runtest(self) -> None:
        """Replay the case on the system under test and in the model.

        Raises NotAsInTheModel if the results differ. Skips the test if the adapter cannot run the case.
        """
        try:
            result = rerun(_subject(self.config), self.case, parse_protocol(self.protocol))
        except SubjectUnable as unable:
            pytest.skip(f"the system under test cannot run {self.case.id} under {self.protocol}: {unable}")
        except CommandError as error:
            raise NotAsInTheModel(f"{SUBJECT}: {error}") from None
        if not result.agrees:
            reproduce = self.command_line("--subject", shlex.join(command_of(self.config, SUBJECT)))
            step = 0 if result.differs is None else result.differs[0]
            link = play_links.line(play_links.to_case(self.case, [self.protocol], step))
            raise NotAsInTheModel("\n".join([*_complaints(result, self.protocol), reproduce, link]))


def command_of(config: pytest.Config, setting: str) -> list[str]:
    """Return the adapter's command, which a setting of the ini file names.

    The list is empty if no adapter is configured. A relative path to the program starts at the rootdir.
    """
    command: list[str] = config.getini(setting)
    if command and "/" in command[0]:
        command = [str(config.rootpath / command[0]), *command[1:]]
    return command


def close(config: pytest.Config) -> None:
    """End the adapter's process, if one was started."""
    subject = config.stash.get(_SUBJECT, None)
    if subject is not None:
        subject.close()


def _subject(config: pytest.Config) -> CommandSubject:
    """Return the adapter that all cases of this pytest process share."""
    return shared(config, _SUBJECT, lambda: CommandSubject(command_of(config, SUBJECT)))


def _complaints(result: Rerun, protocol: str) -> list[str]:
    lines = [f"{result.case.id} under {protocol} is not the same on the system under test:"]
    if (result.subject.broken, result.subject.at) != (result.model.broken, result.model.at):
        lines.append(f"it breaks {broken_text(result.subject)}, and the model breaks {broken_text(result.model)}")
    if result.differs is not None:
        number, fault = result.differs
        lines.append(f"after {f'event {number}' if number else 'the reset'}: {fault.sentence}")
        lines += [fault.output] if fault.output else []
    return lines
