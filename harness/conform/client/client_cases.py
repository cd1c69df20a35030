"""The installed cases that test a client: short schedules with events that a client can play."""

from collections.abc import Sequence

from epochfuzz.harness.cases.bundled import FOR_CLIENTS, bundled_cases
from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.client.playable import is_playable
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

MOST_EVENTS = 15  # a longer case costs a client too much time


def client_cases(protocols: Sequence[Protocol]) -> list[Case]:
    """Return the installed cases that a client can play under at least one of the protocols.

    The cases that were written for clients come first.
    """
    installed = [*load_corpus([FOR_CLIENTS]), *bundled_cases()]
    return [case for case in installed if any(is_for_clients(case, protocol) for protocol in protocols)]


def is_for_clients(case: Case, protocol: Protocol) -> bool:
    """Return whether the endpoint can serve a case, a client can play it under a protocol, and it is short enough."""
    if case.settings.transactions or case.settings.producer_epochs or case.systems or len(case.events) > MOST_EVENTS:
        return False
    return is_playable(case.events, protocol, settings_for_clients(case.settings))
