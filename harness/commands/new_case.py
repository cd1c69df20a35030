"""`epochfuzz new-case`: record a schedule event by event, from a keyboard or a pipe, and save it as a case."""

import contextlib
import importlib
import io
import re
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.cases.recording import Recording
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.files import rewrite_file, write_new_file
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json
from epochfuzz.harness.views import terminal as timeline
from epochfuzz.harness.views.drawings import captions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS, EventError, event_text, parse_event, schedule_texts
from epochfuzz.model.kafka.vocabulary.names import nearest

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents

_COMMANDS = {
    "undo": "take the last event back",
    "save": "write the case, and continue",
    "quit": "leave",
}
_WHY = "Why does it matter? One paragraph; leave it empty to use the story above: "


@options.configured()
def new_case(
    *,
    settings: Configuration,
    file: Annotated[Path, typer.Argument(help="The case file to write; its name becomes the id of the case.")],
    protocol: Annotated[
        str,
        options.protocol_option("--protocol", "-p", help="The protocol to show."),
    ] = "kip-320",
    json: options.Json = False,
) -> int:
    """Record a schedule: see the state, choose among the events that are enabled, and save a case.

    Enter an event by number or name, such as `3` or `fetch B`, or enter undo, save or quit. The saved case expects the
    current result of each reference design. The input can also come from a pipe.

    Examples:

    - `epochfuzz new-case corpus/found/lost.yaml --protocol hw`
    - `epochfuzz new-case three.yaml --protocol kip-320:fencing=none --replicas 3 --min-insync-replicas 2`
    - `printf 'produce A\\nfetch B\\nreceive B\\nsave\\n' | epochfuzz new-case copied.yaml`
    """
    (parsed,) = options.parse_protocols([protocol])
    slug = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")
    if not slug:
        raise BadInput(f"{file}: the name of the file becomes the id of the case; use letters or digits")
    if file.exists():
        raise BadInput(f"{file} is there already; name another file, or remove it")
    if not file.parent.is_dir():
        raise BadInput(f"{file}: there is no directory {file.parent}; create it first")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # invalid bytes are reported as an unknown event
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):  # Windows has no readline
            importlib.import_module("readline")  # gives `input` line editing and a history
    session = _Session(console(json), Recording(parsed, settings), file, slug)
    session.converse()
    if json:
        print_json(session.json())
    return Exit.AS_EXPECTED


class _Session:
    """A dialogue with the user, who records a schedule event by event."""

    def __init__(self, out: Console, recording: Recording, file: Path, slug: str) -> None:
        self.out = out
        self.recording = recording
        self.file = file
        self.slug = slug
        self.saved: Case | None = None

    def converse(self) -> None:
        """Show the state, and read and run commands, until `quit`, the end of the input or Ctrl-C.

        After Ctrl-C, an unsaved recording is saved.
        """
        try:
            self._answer()
        except KeyboardInterrupt:
            if self._is_unsaved:
                self._write("")
                self._say(f"\nkept, interrupted or not; see it with: epochfuzz replay {quote(str(self.file))} --trace")
            raise
        if self._is_unsaved:
            self._say(f"not saved: {', '.join(schedule_texts(bytes(self.recording.events)))}")

    def _answer(self) -> None:
        choices = self._show()
        while (answer := self._ask("> ")) not in (None, "quit"):
            if answer == "undo":
                choices = self._undo(choices)
            elif answer == "save":
                self._save()
            elif answer and (event := self._event(answer, choices)) is not None:
                self.recording.events.append(event)
                choices = self._show()

    @property
    def _is_unsaved(self) -> bool:
        events = bytes(self.recording.events)
        return bool(events) and (self.saved is None or self.saved.events != events)

    def json(self) -> "documents.NewCase":
        """Return the JSON document: the file of the saved case or None, the events, and the expectations."""
        expect = {} if self.saved is None else self.saved.expect
        return {
            "case": None if self.saved is None else str(self.file),
            "events": schedule_texts(bytes(self.recording.events)),
            "protocols": {name: each.plain() for name, each in expect.items()},
        }

    def _ask(self, question: str) -> str | None:
        """Ask the user, and return a line from the keyboard or from a pipe; None at the end of the input.

        A line from the keyboard can be edited. A line from a pipe is echoed.
        """
        at_keyboard = sys.stdin.isatty() and self.out.file is sys.stdout and self.out.is_terminal
        if not at_keyboard:
            self.out.print(question, end="", markup=False, soft_wrap=True)
        try:
            answer = " ".join(input(question if at_keyboard else "").split())
        except EOFError:
            self.out.print()
            return None
        if not sys.stdin.isatty():
            self._say(answer)
        return "".join(character for character in answer if character.isprintable())

    def _show(self) -> list[int]:
        """Print the state and the enabled events. Returns the events."""
        scene = self.recording.scene
        self.out.print(Text(f"\n{scene.number} {scene.event} ({self.recording.protocol.name})", "bold"))
        self.out.print(timeline.scene_drawing(scene))
        choices = self.recording.enabled()
        self.out.print(Columns([Text(f"{i:>2} {event_text(e)}") for i, e in enumerate(choices, 1)], padding=(0, 3)))
        self._say(", ".join(f"{name}: {does}" for name, does in _COMMANDS.items()))
        return choices

    def _event(self, answer: str, choices: list[int]) -> int | None:
        """Return the event that the user's answer names.

        If the event is unknown or not enabled, print the reason and return None.
        """
        numbered = {str(number): event for number, event in enumerate(choices, 1)}
        if answer in numbered:
            return numbered[answer]
        if answer.isdecimal():
            self._say(f"there is no number {answer}; choose from 1 to {len(choices)}")
            return None
        verb, _, replica = answer.partition(" ")
        if not replica and verb not in VERBS:
            self._say(f"unknown command {verb!r}; {nearest(verb, [*_COMMANDS, *VERBS], 'the commands are')}")
            return None
        try:
            event = parse_event(f"{verb.lower()} {replica.upper()}".strip())
        except EventError as error:
            self._say(str(error))
            return None
        if event in choices:
            return event
        self._say(f"{event_text(event)} is not enabled: {self.recording.why_not(event)}")
        return None

    def _undo(self, choices: list[int]) -> list[int]:
        if not self.recording.events:
            self._say("there is nothing to undo")
            return choices
        self.recording.events.pop()
        return self._show()

    def _save(self) -> None:
        if not self.recording.events:
            self._say("there is nothing to save: a case has at least one event")
            return
        case = self._write(self._ask(_WHY) or "")
        for name, verdict in judge(case).verdicts.items():
            self._say(f"{name} {captions.verdict(verdict.run)}")
        self._say(f"saved; see it again with: epochfuzz replay {quote(str(self.file))} --trace")

    def _write(self, why: str) -> Case:
        case = self.recording.case(self.slug, why)
        write = write_new_file if self.saved is None else rewrite_file
        write(self.file, dump_case(case))
        self.saved = case
        return case

    def _say(self, text: str) -> None:
        self.out.print(text, markup=False, soft_wrap=True)
