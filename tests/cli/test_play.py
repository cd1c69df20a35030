"""`epochfuzz play` without a browser: addresses, rejected requests, saving, searches, and the end of the command."""

import signal
import socket
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.serving import BaseWSGIServer
from werkzeug.test import Client, TestResponse

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.links import position
from epochfuzz.harness.links.position import BadPosition, Position
from epochfuzz.harness.play.ahead import ANY, CannotSearch, LookAhead, Searches
from epochfuzz.harness.play.board import Board
from epochfuzz.harness.play.server import Application
from epochfuzz.model.kafka.vocabulary.configuration import ACKS, Configuration
from epochfuzz.model.kafka.vocabulary.events import alphabet, parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, ablations, parse_protocol

SHORTEST_LOSS = "produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B"
OURS = {"Host": "127.0.0.1:8320", "Origin": "http://127.0.0.1:8320"}
HW, KIP_320 = NAMED["hw"], NAMED["kip-320"]

schedules = st.lists(st.sampled_from(alphabet(5)), max_size=30).map(bytes)
positions = st.builds(
    Position,
    protocols=st.lists(
        st.sampled_from([*NAMED.values(), *ablations(KIP_320, Configuration())]), min_size=1, max_size=4, unique=True
    ).map(tuple),
    settings=st.builds(
        Configuration, replicas=st.integers(2, 5), acks=st.sampled_from(sorted(ACKS)), power_loss=st.booleans()
    ),
    events=schedules,
    branches=st.lists(schedules.filter(bool), max_size=3).map(tuple),
    case=st.sampled_from(["", "m1-loss"]),
)


def where(schedule: str, *protocols: str, **settings: Any) -> Position:
    events = parse_schedule(schedule.split(", "))
    return Position(
        protocols=tuple(map(parse_protocol, protocols)),
        settings=Configuration(**settings),
        events=events,
        step=len(events),
    )


def parsed(query: str) -> Position:
    return position.parse(parse_qs(query, keep_blank_values=True))


@given(positions, st.integers(0, 31))
def test_the_address_of_a_position_parses_back_to_the_position(there: Position, step: int) -> None:
    there = there.at(step) if there.events else there
    assert parsed(there.query()) == there


def test_a_branch_that_continues_the_schedule_opens_at_the_last_common_event() -> None:
    shorter = where("produce A, fetch B", "hw")
    longer = parse_schedule(["produce A", "fetch B", "receive B"])
    assert shorter.at(3).along(longer).step == 2


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("protocol=kip-32", "unknown protocol 'kip-32'; did you mean 'kip-320'?"),
        ("events=produce+A,fetsch+B", "unknown event 'fetsch'; did you mean 'fetch'?"),
        ("replicas=7", "replicas must be from 2 to 5; got 7"),
        ("power_loss=maybe", "power_loss must be true or false; got 'maybe'"),
        ("acks=2", "acks must be 0, 1 or all; got '2'"),
        ("events=produce+A&step=3", "step must be a whole number from 0 to 2; got '3'"),
        ("replica=3", "unknown key 'replica' in the address; did you mean 'replicas'?"),
        ("replicas=2&replicas=3", "replicas comes twice"),
        ("events=" + ",".join(["produce+A"] * 501), "501 events are too many to draw"),
    ],
)
def test_the_message_for_an_invalid_address_gives_the_reason(query: str, said: str) -> None:
    with pytest.raises(BadPosition) as refused:
        parsed(query)
    assert said in str(refused.value)


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@given(positions)
def test_play_has_a_page_for_every_position(there: Position) -> None:
    client = Client(Application(there, Path()))
    answer = client.get(f"/?{there.query()}", headers=OURS)
    assert answer.status_code == 200
    assert "Events that are not enabled" in answer.text


def test_the_board_offers_each_event_or_shows_why_the_event_is_not_enabled() -> None:
    board = Board(where("produce A, crash B, restart B", "hw", "kip-320", replicas=3))
    offered = {choice.event: choice.under for choices in board.choices.values() for choice in choices}
    refused = [(event, names) for each in board.refused for event in each.events for names, _ in each.reasons]
    for event in schedule_texts(Configuration(replicas=3).alphabet()):
        not_under = [name for other, names in refused if other == event for name in names]
        assert sorted([*offered.get(event, ()), *not_under]) == ["hw", "kip-320"]


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(Application(where(SHORTEST_LOSS, "hw", "kip-320"), tmp_path))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8320", "127.0.0.1.evil.example", "10.0.0.1:8320", ""])
def test_the_server_rejects_a_request_with_a_foreign_host_header(client: Client, host: str) -> None:
    for path in ("/", "/play.js", "/search/1"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 400
        assert "hw" not in answer.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:8320", "null", None]
)
@pytest.mark.parametrize("path", ["/save", "/search", "/search/1/cancel"])
def test_the_server_rejects_a_save_or_a_search_from_a_foreign_or_missing_origin(
    client: Client, tmp_path: Path, path: str, origin: str | None
) -> None:
    headers = {"Host": OURS["Host"]} | ({} if origin is None else {"Origin": origin})
    form = {"position": where(SHORTEST_LOSS, "hw").query(), "id": "lost", "under": "hw"}
    assert client.post(path, headers=headers, data=form).status_code == 403
    assert list(tmp_path.iterdir()) == []


def test_the_content_security_policy_forbids_foreign_resources_and_frames(client: Client) -> None:
    policy = client.get("/", headers=OURS, follow_redirects=True).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def saved(client: Client, there: Position, **form: str) -> TestResponse:
    return client.post("/save", headers=OURS, data={"position": there.query(), **form})


def test_play_saves_a_case_that_expects_the_current_results(client: Client, tmp_path: Path) -> None:
    there = where(SHORTEST_LOSS, "kafka-2.1", acks="1")
    assert "Saved as" in saved(client, there, id="lost", why="Because: #1 & <b>").json["answer"]
    case = load_case(tmp_path / "lost.yaml")
    assert (case.events, case.settings, case.why) == (there.events, there.settings, "Because: #1 & <b>")
    assert list(case.expect) == [*GENERATIONS, "kafka-2.1"]
    assert case.expect["hw"].broken == ("no-committed-loss", "isr-complete")


@pytest.mark.parametrize(
    ("schedule", "slug", "said"),
    [
        (SHORTEST_LOSS, "../lost", "is not a slug"),
        (SHORTEST_LOSS, "", "is not a slug"),
        ("produce A, crash C", "lost", "'crash C' is out of range: with 2 replicas the last is B"),
    ],
)
def test_play_does_not_save_an_invalid_case(
    client: Client, tmp_path: Path, schedule: str, slug: str, said: str
) -> None:
    assert said in saved(client, where(schedule, "hw"), id=slug).json["answer"]
    assert list(tmp_path.rglob("*")) == []


def test_play_replaces_an_existing_case_only_on_request(client: Client, tmp_path: Path) -> None:
    (tmp_path / "lost.yaml").write_text("precious")
    refused = saved(client, where(SHORTEST_LOSS, "hw"), id="lost").json
    assert refused["is_there"]
    assert "is there already" in refused["answer"]
    assert (tmp_path / "lost.yaml").read_text() == "precious"
    assert not saved(client, where(SHORTEST_LOSS, "hw"), id="lost", replace="yes").json.get("is_there")
    assert load_case(tmp_path / "lost.yaml").id == "lost"


def test_a_search_finds_the_rest_of_a_shortest_schedule() -> None:
    search = LookAhead(
        position=where("produce A, fetch B, receive B", "hw"), protocol=HW, property="no-committed-loss", seconds=30
    )
    search.run()
    assert search.found is not None
    assert len(search.found) == 6
    start = "After 6 events more, hw breaks no-committed-loss"
    also = ("", " and no-acked-loss")
    assert search.answer.startswith(tuple(f"{start}{each}. Because of truncation=high_watermark" for each in also))


def test_a_search_that_visits_every_state_says_that_nothing_breaks() -> None:
    search = LookAhead(
        position=where("produce A", "kip-320", records=1, epochs=1), protocol=KIP_320, property=ANY, seconds=30
    )
    search.run()
    assert search.found is None
    assert "From here on, kip-320 breaks nothing more within the bounds" in search.answer


def test_play_does_not_search_for_a_property_that_is_broken_or_not_guaranteed() -> None:
    searches = Searches()
    with pytest.raises(CannotSearch, match="breaks no-committed-loss already, by step 9: go back"):
        searches.start(
            LookAhead(position=where(SHORTEST_LOSS, "hw"), protocol=HW, property="no-committed-loss", seconds=10)
        )
    with pytest.raises(CannotSearch, match="no-acked-loss is not promised with acks=1"):
        searches.start(
            LookAhead(position=where("produce A", "hw", acks="1"), protocol=HW, property="no-acked-loss", seconds=10)
        )


def play(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "epochfuzz", "play", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell ignores it for what runs behind it
    )


def test_ctrl_c_stops_play_without_a_message() -> None:
    running = play("--port", 0)
    assert running.stdout is not None
    assert running.stdout.readline().startswith("play at http://127.0.0.1:")
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=30) == ("", "")
    assert running.returncode == 0


def complaint(*arguments: object) -> str:
    running = play(*arguments)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (2, "")
    assert "Traceback" not in err
    return " ".join(err.split())


def test_play_stops_with_a_clear_message_if_the_port_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert f"--port: {port} is not available (Address already in use)" in complaint("--port", port)


def test_play_stops_with_a_clear_message_for_invalid_input(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("schema: 1\nid: broken\nwhy: Broken.\nevents: [produce A, fetsch B]\n")
    assert f"{broken}:4: unknown event 'fetsch'" in complaint(broken)
    assert "unknown protocol 'hv'" in complaint("--protocol", "hv")
    assert "does not exist; create it first" in complaint("--out", tmp_path / "nowhere")
    assert "the case sets the configuration" in complaint(broken, "--replicas", "3")


def test_the_json_output_of_play_has_the_address_and_the_protocols(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_at_once(server: BaseWSGIServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(BaseWSGIServer, "serve_forever", end_at_once)
    document = epochfuzz("play", "--port", 0, "--protocol", "hw", "--json").json
    assert document["protocols"] == ["hw"]
    assert document["address"].startswith("http://127.0.0.1:")


def test_play_opens_a_case_before_the_first_event_and_shows_the_story_of_the_case(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    def end_at_once(server: BaseWSGIServer) -> None:
        opened.append(server.app)
        raise KeyboardInterrupt

    monkeypatch.setattr(BaseWSGIServer, "serve_forever", end_at_once)
    assert epochfuzz("play", "m1-loss", "--port", 0).code == 0
    case, start, browser = load_case("m1-loss"), opened[0].start, Client(opened[0])
    assert (start.events, start.step, start.case) == (case.events, 0, "m1-loss")
    page = browser.get("/", headers=OURS, follow_redirects=True).text
    assert "step 0 of 25" in page
    story = escape(" ".join(case.why.split()), quote=False)
    assert story[:60] in page
    assert story[:60] in browser.get(f"/?{start.at(12).query()}", headers=OURS).text
    other = start.at(3).going(*parse_schedule(["crash A"]))
    assert story[:60] not in browser.get(f"/?{other.query()}", headers=OURS).text
