"""The gate, which decides whether a client's request may change the partition or read a record now."""

from epochfuzz.model.kafka.vocabulary.events import Verb


class Gate:
    """Admits requests of clients: all requests if `is_free`, else one request for each event of a schedule.

    `passed` counts the admitted requests.
    """

    def __init__(self, *, is_free: bool) -> None:
        self.is_free = is_free
        self.passed = 0
        self._opened: tuple[Verb, int] | None = None

    def open(self, verb: Verb, r: int) -> None:
        """Admit one request at replica r, of the kind that `verb` names, such as `produce`."""
        self._opened = verb, r

    def close(self) -> None:
        """Admit no further request, unless the gate is free."""
        self._opened = None

    def admits(self, verb: Verb, r: int) -> bool:
        """Return whether a request of `verb` may pass at replica r now."""
        return self.is_free or self._opened == (verb, r)

    def opened_for(self, verb: Verb) -> int | None:
        """Return the replica where the gate is open for requests of `verb`, or None if it is open nowhere."""
        return self._opened[1] if self._opened is not None and self._opened[0] is verb else None

    def enter(self) -> None:
        """Count an admitted request as passed, and close the gate unless it is free."""
        self.passed += 1
        self.close()
