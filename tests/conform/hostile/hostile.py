"""A subject that misbehaves: `python hostile.py TRICK reset|event|any`, in answer to each reset, each event, or both.

It knows one event, `restart`, and always refuses it, as it should while nobody can crash. It imports little, for it is
started often.
"""

import json
import os
import signal
import subprocess
import sys
import time

READY = '{"ok": true, "events": ["restart"]}'
UNABLE = '{"ok": false, "error": "%s"}'
REFUSED = '{"applied": false, "observation": {"controller": {"epoch": %d}}}'


asked = 0  # how often the trick could have been played


def die_of_age() -> None:
    """At a request of a number, whatever is asked, across resets."""
    if asked == int(os.environ["AGE"]):
        sys.exit(9)


def become_unable() -> str | None:
    """At a reset of a number."""
    return UNABLE % "no longer" if asked >= int(os.environ["AGE"]) else None


def hang() -> None:
    time.sleep(600)


def hang_with_children() -> None:
    """One child in the same process group, and one that has left it."""
    for leaves in (False, True):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=leaves)
    hang()


def trickle() -> None:
    """Byte by byte: there is always something, and never a line."""
    while True:
        sys.stdout.write(" ")
        sys.stdout.flush()
        time.sleep(0.01)


def exit_with_words() -> None:
    print("out of luck", file=sys.stderr, flush=True)
    sys.exit(7)


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def be_killed_by_a_signal_without_a_name() -> None:
    os.kill(os.getpid(), 40)


def close_standard_output() -> None:
    os.close(1)
    hang()


def print_rubbish() -> None:
    print("INFO starting \x1b[31mup", flush=True)


NASTY = "\x1b[31mred \x1b]0;title\x07 \u202e[/nothing]\x9b\n"


def show_nasty_text() -> str:
    """Wherever a subject can have a text of its own."""
    own = {NASTY: NASTY}
    replica = {"log": [[NASTY, 0]], "own": own, NASTY: 1}
    return json.dumps(
        {
            "applied": False,
            "observation": {"replicas": {"A": replica}, "controller": {"own": own, NASTY: 1}, NASTY: 1},
        }
    )


def show_many_fields() -> str:
    fields = {f"field{number}": number for number in range(20_000)}
    return json.dumps({"applied": False, "observation": {"replicas": {"A": fields}}})


def show_fields_that_are_always_new() -> str:
    fields = {f"field{asked}-{number}": number for number in range(500)}
    return json.dumps({"applied": False, "observation": {"replicas": {"A": fields | {"x" * 100_000: 1}}}})


def show_a_replica_too_many() -> str:
    return json.dumps({"applied": False, "observation": {"replicas": {"E": {"hw": 1, "log": [[NASTY, 0]]}}}})


def show_a_record_of_many_digits() -> str:
    return json.dumps({"applied": False, "observation": {"replicas": {"A": {"log": [["m" + "1" * 5_000, 0]]}}}})


def refuse_in_nasty_text() -> str:
    return json.dumps({"ok": False, "error": NASTY})


def name_nasty_events() -> str:
    return json.dumps({"ok": True, "events": [NASTY]})


def answer_twice() -> str:
    """In one write: two would be read as one answer, or as the answers to two requests, as it happens."""
    return f"{REFUSED % 0}\n{REFUSED % 0}"


def answer_a_reset() -> str:
    return READY


def flood_a_line() -> None:
    while True:
        sys.stdout.write("flood " * 10_000)


def flood_standard_error() -> None:
    for _ in range(2_000):
        sys.stderr.write("a log line of no interest\n" * 10)


def outlive_its_input() -> None:
    """Answers, and then neither reads nor ends."""
    print(REFUSED % 0, flush=True)
    hang()


def differ_the_first_time_ever() -> str | None:
    """By a file that says whether it was."""
    if os.path.exists(os.environ["MARK"]):
        return None
    open(os.environ["MARK"], "w").close()
    return REFUSED % 5


def differ_until_the_run_is_interrupted() -> str:
    """By a Ctrl-C to the one that asks, at an event of a number."""
    if asked == int(os.environ["AGE"]):
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(600)
    return REFUSED % 5


def differ_by_process() -> str:
    return REFUSED % os.getpid()


def main() -> None:
    global asked
    trick, when = globals()[sys.argv[1]], sys.argv[2]
    while line := sys.stdin.readline():
        is_event = '"op": "event"' in line
        is_time = when in ("any", "event" if is_event else "reset")
        asked += is_time
        instead = trick() if is_time else None
        print(instead or (REFUSED % 0 if is_event else READY), flush=True)


if __name__ == "__main__":
    main()
