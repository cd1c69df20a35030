"""`epochfuzz cluster replay` and `cluster fuzz`: run schedules of the model's events on Kafka, message by message."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import mistakes_as_bad_input, protocols_for
from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.files import write_new_file
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, console, print_json, print_table
from epochfuzz.harness.cluster.broker.installation import DEFAULT_RELEASE
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.conform.run.selection import Selection

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case
    from epochfuzz.harness.cluster.broker.installation import Installation
    from epochfuzz.harness.cluster.schedules.beside import Beside
    from epochfuzz.harness.cluster.schedules.fuzz import Fuzzer
    from epochfuzz.harness.cluster.schedules.player import Player
    from epochfuzz.harness.documents import evidence
    from epochfuzz.harness.documents.cluster_records import Playing
    from epochfuzz.model.kafka.vocabulary.configuration import Configuration


Selected = Annotated[
    Selection,
    typer.Option(
        "--selection",
        metavar="[random|coverage]",
        help="Run random schedules, or those that meet rare goals or cover the most new situations.",
    ),
]
Save = Annotated[
    Path | None,
    typer.Option("--save", help="The directory for found cases. To resume a killed run, repeat the command."),
]


def replay(
    cases: Annotated[
        list[Path], typer.Argument(metavar="CASE...", help="Case files, directories of them, or ids such as m1-loss.")
    ],
    release: options.KafkaRelease = DEFAULT_RELEASE,
    kafka_home: options.KafkaHome = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The directory for the brokers' logs and a record of each case.")
    ] = None,
    keep_data: options.KeepData = False,
    json: options.Json = False,
) -> int:
    """Replay cases on Kafka, event by event. Proxies hold each message until an event forwards it.

    Each step waits for a condition and prints its outcome. The verdict depends on the acknowledgements and reads of
    clients, and is compared with the model of the release. If the cluster does not perform a step, the verdict is NOT
    REACHED.

    Examples:

    - `epochfuzz cluster replay corpus/documents/m1-loss.yaml`
    - `epochfuzz cluster replay corpus/history/re-elected-leader.yaml --release 3.9.2`
    - `epochfuzz cluster replay corpus --json --out build/replayed`
    """
    from epochfuzz.harness.cases.corpus import load_corpus
    from epochfuzz.harness.cluster.schedules.beside import missing

    options.require_out_for_data(keep_data, out)
    with mistakes_as_bad_input():
        loaded = load_corpus(cases)
    offered = [case for case in loaded if not missing(case)]
    printing = console(json)
    with as_ctrl_c(), as_bad_input(ClusterError):
        played = _replay(printing, _kafka(release, kafka_home), offered, out, keep_data)
    table = Table("case", "on the cluster", "in the model", "differs")
    for case, playing, model in played:
        table.add_row(case.id, playing.ended.value, model.ended.value if model else "?", _unlike(playing, model))
    print_table(printing, table)
    for case in loaded:
        if missing(case):
            printing.print(
                f"{case.id} was not played, because a cluster does not offer {', '.join(missing(case))}", markup=False
            )
    if json:
        print_json(_plain(release if kafka_home is None else str(kafka_home), loaded, played))
    return _exit_code(played)


def fuzz(
    for_: Annotated[str, typer.Option("--for", metavar="DURATION", help="Duration of the run, such as 30m or 8h.")],
    release: options.KafkaRelease = DEFAULT_RELEASE,
    kafka_home: options.KafkaHome = None,
    replicas: Annotated[int, typer.Option("--replicas", min=2, max=3, help="Replicas of the partition.")] = 3,
    seed: options.Seed = None,
    selection: Selected = Selection.RANDOM,
    save: Save = None,
    json: options.Json = False,
) -> int:
    """Run random schedules on Kafka; shrink each schedule that loses a record, and save it as a case.

    Each schedule uses a new topic. All schedules use one cluster, which epochfuzz replaces if it breaks down.

    The exit code is 1 if a finding has another result in the model, for example if the model keeps the lost record. If
    the model loses the record too, the exit code is 0.

    Examples:

    - `epochfuzz cluster fuzz --for 30m`
    - `epochfuzz cluster fuzz --for 8h --replicas 2 --seed 1 --save build/found`
    """
    from epochfuzz.harness.cluster.schedules.player import Player
    from epochfuzz.harness.jobs.unfinished import ProgressError
    from epochfuzz.model.kafka.vocabulary.configuration import Configuration

    seconds = options.parse_duration(for_)
    if selection is Selection.BUGS:
        raise BadInput("cluster fuzz has no --selection bugs; choose random or coverage")
    printing = console(json)
    with as_ctrl_c(), as_bad_input(ClusterError), as_bad_input(ProgressError, "--save"), mistakes_as_bad_input():
        kafka = _kafka(release, kafka_home)
        with Player(kafka, None) as player:
            fuzzer = _fuzzer(player, kafka, Configuration(replicas=replicas), seed, seconds, selection, save)
            printing.print(f"Kafka {kafka.release}, seed {fuzzer.seed}", markup=False)
            if fuzzer.result.schedules:
                printing.print(f"resuming after {fuzzer.result.schedules:,} schedules", markup=False)
            is_interrupted = False
            try:
                fuzzer.run(seconds, lambda line: printing.print(line, markup=False, soft_wrap=True))
            except KeyboardInterrupt:
                is_interrupted = True
                printing.print("stopped" if save is None else "stopped; repeat the command to resume", markup=False)
        code = _end(printing, kafka.release, fuzzer, json)
        if is_interrupted:
            raise KeyboardInterrupt
    return code


def _end(printing: Console, release: str, fuzzer: "Fuzzer", json: bool) -> int:
    """Show the results of `cluster fuzz`. Returns the exit code."""
    from epochfuzz.harness.cli.cluster_results import finding_json
    from epochfuzz.harness.cluster.schedules.fuzzed import describe
    from epochfuzz.harness.views import play_links

    printing.print(describe(fuzzer.result), markup=False, soft_wrap=True)
    findings = [finding_json(each, fuzzer.protocol, fuzzer.settings) for each in fuzzer.result.findings]
    for each in findings:
        printing.print(f"schedule {each['schedule']}: {each['ended']}, in the model {each['model']}", markup=False)
        play_links.show(printing, each["play"])
    if json:
        document: evidence.ClusterFuzz = {
            "release": release,
            "seed": fuzzer.seed,
            **fuzzer.result.numbers(),
            "findings": findings,
        }
        print_json(document)
    is_unlike = any(each.model is not each.ended for each in fuzzer.result.findings)
    return Exit.BROKEN if is_unlike else Exit.AS_EXPECTED


def _fuzzer(
    player: "Player",
    kafka: "Installation",
    settings: "Configuration",
    seed: int | None,
    seconds: float,
    selection: Selection,
    save: Path | None,
) -> "Fuzzer":
    """Return the Fuzzer for the options. With --save, the Fuzzer resumes an unfinished run with equal options.

    Raises BadInput and ProgressError.
    """
    from epochfuzz.harness.cases.folder import CaseDirectory
    from epochfuzz.harness.cluster.schedules.beside import modelled
    from epochfuzz.harness.cluster.schedules.fuzz import Fuzzer, request
    from epochfuzz.harness.jobs.unfinished import UnfinishedRun

    protocol = modelled(kafka.release)
    asked = request(kafka.release, protocol, settings, seconds, selection)
    try:
        folder = None if save is None else CaseDirectory(save)
    except OSError as error:
        raise BadInput(f"--save: {save} cannot be created: {error.strerror}; name another directory") from None
    drawn = asked.seed_for(seed, save)
    unfinished = None if save is None else UnfinishedRun(save, asked, drawn)
    return Fuzzer(player, protocol, settings, drawn, None if folder is None else folder.save, selection, unfinished)


def _kafka(release: str, home: Path | None) -> "Installation":
    from epochfuzz.harness.cluster.broker import installation

    if home is not None and not home.is_dir():
        raise BadInput(f"--kafka-home: {home} is not a directory; name the directory of an unpacked Kafka")
    return installation.from_maven(release) if home is None else installation.from_home(home)


def _replay(
    printing: Console, kafka: "Installation", cases: "list[Case]", out: Path | None, keep_data: bool
) -> "list[tuple[Case, Playing, Beside | None]]":
    from epochfuzz.harness.cluster.schedules.beside import beside, protocol_of, settings_of
    from epochfuzz.harness.cluster.schedules.player import Player
    from epochfuzz.harness.views import play_links
    from epochfuzz.model.kafka.vocabulary.events import schedule_texts

    protocol = protocol_of(kafka.release)
    played = []
    with Player(kafka, out, keep_data) as player:
        for case in cases:
            printing.print(f"{case.id} on Kafka {kafka.release}", markup=False)
            playing = player.play(
                settings_of(case.settings),
                schedule_texts(case.events),
                lambda line: printing.print(line, markup=False, soft_wrap=True),
            )
            sentence = f"{playing.ended}: {playing.why}" if playing.why else playing.ended.value
            printing.print(f"{sentence} ({playing.seconds:.0f} s)", markup=False, soft_wrap=True)
            model = None if protocol is None else beside(case.events, case.settings, protocol, playing)
            play_links.show(printing, _link(case, model))
            played.append((case, playing, model))
            if out is not None:
                text = json_text.dumps(playing.plain(), indent=2) + "\n"
                write_new_file(out / f"{case.id}.json", text)
    return played


def _link(case: "Case", model: "Beside | None") -> str | None:
    """Return a link to the step of the case that the user should look at, in the model of the release.

    If no protocol models the release, return a link to the start of the case. Return None if the case is too long
    for a link.
    """
    from epochfuzz.harness.views import play_links

    if model is None:
        return play_links.to_case(case, protocols_for(case, None))
    return play_links.to_case(case, [model.protocol], model.step)


def _unlike(playing: "Playing", model: "Beside | None") -> str:
    """Return the first difference between the cluster and the model, or "" if there is no difference or no model."""
    if model is None or (playing.ended is model.ended and model.differs is None):
        return ""
    return model.differs or "only the final result"


def _plain(
    kafka: str, loaded: "list[Case]", played: "list[tuple[Case, Playing, Beside | None]]"
) -> "evidence.ClusterReplay":
    from epochfuzz.harness.cluster.schedules.beside import missing

    return {
        "release": kafka,
        "cases": [
            {
                "id": case.id,
                "ended": playing.ended,
                "why": playing.why,
                "model": None
                if model is None
                else {"protocol": model.protocol, "ended": model.ended, "permitted": model.permitted},
                "differs": None if model is None else model.differs,
                "playing": playing.plain(),
                "play": _link(case, model),
            }
            for case, playing, model in played
        ],
        "not_offered": {case.id: missing(case) for case in loaded if missing(case)},
    }


def _exit_code(played: "list[tuple[Case, Playing, Beside | None]]") -> int:
    """Return the exit code: AS_EXPECTED, BROKEN, or GOAL_UNMET if a cluster did not reach a step.

    A case is as expected if it ends as in the model of the release. If no protocol models the release, the case must
    keep all guarantees.
    """
    from epochfuzz.harness.documents.cluster_records import Ended

    if any(playing.ended is Ended.NOT_REACHED for _, playing, _ in played):
        return Exit.GOAL_UNMET
    as_expected = (playing.ended is (model.ended if model else Ended.KEPT) for _, playing, model in played)
    return Exit.AS_EXPECTED if all(as_expected) else Exit.BROKEN
