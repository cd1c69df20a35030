"""The process of a client under test, and its reports."""

import asyncio
from collections.abc import Sequence

from epochfuzz.harness.conform.client.orders import ClientReport, parse_report
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind, SubjectFailed
from epochfuzz.harness.conform.protocol.process import START_PATIENCE, LineProcess
from epochfuzz.harness.conform.protocol.wire import MalformedReply


class ClientProcess:
    """The process of a client that follows orders. The process starts with the first order, and again after a failure.

    `acked`, `failed` and `read` collect the values in the client's reports since the last call of `forget`.
    """

    def __init__(self, command: Sequence[str], patience: float) -> None:
        self._command = command
        self._patience = patience
        self._process: LineProcess | None = None
        self.forget()

    @property
    def is_running(self) -> bool:
        """True if the process runs and has received an order. If False, the next order starts a fresh process."""
        return self._process is not None

    def forget(self) -> None:
        """Forget all reports: `acked`, `failed` and `read` become empty."""
        self.acked: set[str] = set()
        self.failed: set[str] = set()
        self.read: list[str] = []

    async def follow(self, order: bytes) -> ClientReport:
        """Send an order, and return the client's report. Raises SubjectFailed and CommandError.

        While the client works, the endpoint that plays the brokers continues to serve requests.
        """
        patience = self._patience
        if self._process is None:
            self._process = LineProcess(self._command)
            patience = max(patience, START_PATIENCE)
        try:
            reply = await asyncio.to_thread(self._process.ask, order, patience)
            report = self._parsed(reply)
        except SubjectFailed:
            self._process.kill()  # its later output would not belong to a later order
            self._process = None
            raise
        self.acked.update(report["acked"])
        self.failed.update(report["failed"])
        self.read += report["read"]
        return report

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _parsed(self, reply: bytes) -> ClientReport:
        assert self._process is not None
        try:
            return parse_report(reply)
        except MalformedReply as error:
            message = f"a reply that is not a report: {error}"
            raise SubjectFailed(DiscrepancyKind.GARBAGE, message, self._process.output()) from None
