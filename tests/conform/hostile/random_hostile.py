"""A subject that misbehaves in ways drawn from a number: `python random_hostile.py NUMBER NOTES`.

It knows one event, `restart`, and refuses it, as it should. Now and then it plays a trick instead: one of hostile.py's,
or its own answer with something done to it. Each trick that no run may overlook is noted in the file NOTES.
"""

import os
import random
import sys

sys.path.insert(0, os.path.dirname(__file__))  # it is started without any place to import from

import hostile  # type: ignore[import-not-found]

KEPT_WAITING = ("hang", "trickle", "close_standard_output", "outlive_its_input")  # as long as anybody waits
# Each of them is wrong wherever it is played.
WRONG = (
    *("exit_with_words", "be_killed", "be_killed_by_a_signal_without_a_name", "print_rubbish", "flood_a_line"),
    *("hang", "trickle", "close_standard_output", "show_a_replica_too_many", "show_many_fields", "differ_by_process"),
)
HARMLESS = ("flood_standard_error",)
DONE_TO_ANSWERS = ("cut", "flip", "insert", "repeat", "nest", "swap")
TOKENS = (
    *(b"null", b"NaN", b"-Infinity", b"1e999", b"9" * 5_000, b"[" * 5_000, b'{"a":' * 2_000, b'"\\ud800"', b"\xff\xfe"),
    *(b"\x00", b"\r", b"\n", b"\n\n{}", b'"', b",", b":", b"}", b" " * 100, b"true", b'"applied"', b'"ok": false'),
    *(b'"observation": []', b'"replicas": {"A": 7}', b'"events": [7]', b'"log": [["m0", -1]]', b'"isr": "A"'),
)


class Persona:
    """What is drawn: which tricks, at which requests, and whether each process of it does the same."""

    def __init__(self, number: int, notes: str) -> None:
        draw = random.Random(number)
        self.notes = notes
        self.when = draw.choice(("reset", "event", "event", "any"))
        self.tricks = draw.sample((*WRONG, *HARMLESS, *DONE_TO_ANSWERS), draw.choice((1, 2, 3)))
        self.chance = draw.choice((0.02, 0.1, 0.5, 1.0))
        self.from_request = draw.choice((0, 0, 1, 2, 5, 20))
        self.is_stable = draw.random() < 0.7
        self.draw = random.Random(number if self.is_stable else None)

    def answer(self, usual: bytes, is_event: bool, asked: int) -> bytes:
        """What to print in answer to a request."""
        is_time = self.when in ("any", "event" if is_event else "reset") and asked >= self.from_request
        if not is_time or self.draw.random() >= self.chance:
            return usual
        trick = self.draw.choice(self.tricks)
        if trick in DONE_TO_ANSWERS:
            return self.spoilt(usual, trick)
        if trick in WRONG and (is_event or trick not in ("show_a_replica_too_many", "differ_by_process")):
            with open(self.notes, "a") as notes:
                notes.write(f"{trick}\n")
        instead = getattr(hostile, trick)()
        return usual if instead is None else instead.encode(errors="surrogatepass") + b"\n"

    def spoilt(self, usual: bytes, how: str) -> bytes:
        """An answer with something done to it, which may be one still."""
        at = self.draw.randrange(len(usual))
        if how == "cut":
            return usual[:at] + b"\n"
        if how == "flip":
            return usual[:at] + bytes([usual[at] ^ 1 << self.draw.randrange(8)]) + usual[at + 1 :]
        if how == "insert":
            return usual[:at] + self.draw.choice(TOKENS) + usual[at:]
        if how == "repeat":
            return usual * self.draw.choice((2, 50))
        if how == "nest":
            return b'{"applied": false, "observation": ' * self.draw.choice((2, 500)) + usual
        words = usual.split(b" ")
        words[self.draw.randrange(len(words))] = self.draw.choice(TOKENS)
        return b" ".join(words) + b"\n"


def main() -> None:
    persona, asked = Persona(int(sys.argv[1]), sys.argv[2]), 0
    while line := sys.stdin.readline():
        is_event = '"op": "event"' in line
        usual = (hostile.REFUSED % 0 if is_event else hostile.READY).encode() + b"\n"
        sys.stdout.buffer.write(persona.answer(usual, is_event, asked))
        sys.stdout.buffer.flush()
        asked += 1


if __name__ == "__main__":
    main()
