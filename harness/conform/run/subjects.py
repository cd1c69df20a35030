"""Create the system under test from its command. The command is an adapter or, with `is_client`, a Kafka client."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from epochfuzz.harness.conform.protocol.subject import CommandSubject

if TYPE_CHECKING:
    from epochfuzz.harness.conform.client.client_subject import ClientSubject


def command_subject(command: Sequence[str], patience: float, *, is_client: bool) -> "CommandSubject | ClientSubject":
    """Return the system under test that a command runs. The process starts with the first reset."""
    if not is_client:
        return CommandSubject(command, patience)
    from epochfuzz.harness.conform.client.client_subject import ClientSubject  # needs the extra `client`

    return ClientSubject(command, patience)
