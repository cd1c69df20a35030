"""The gate: it decides which requests of clients may change the partition, or read a record, now."""

from epochfuzz.model.kafka.vocabulary.events import Verb


class Gate:
    """Admit requests of clients: all of them, or one for each event of a schedule.

    `passed` counts the admitted requests.
    """

    def __init__(self, *, is_free: bool) -> None:
        self.is_free = is_free
        self.passed = 0
        self._opened: tuple[Verb, int] | None = None

    def open(self, verb: Verb, r: int) -> None:
        """Admit the next request of that kind at replica r."""
        self._opened = verb, r

    def close(self) -> None:
        """Admit no request any more."""
        self._opened = None

    def admits(self, verb: Verb, r: int) -> bool:
        """Return whether a request of that kind may pass at replica r now."""
        return self.is_free or self._opened == (verb, r)

    def opened_for(self, verb: Verb) -> int | None:
        """Return the replica that the gate is open for, for that kind of request; None if it is closed."""
        return self._opened[1] if self._opened is not None and self._opened[0] is verb else None

    def enter(self) -> None:
        """Let an admitted request pass. The gate closes, unless it is free."""
        self.passed += 1
        self.close()
