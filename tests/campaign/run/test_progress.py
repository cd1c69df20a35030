"""Without a terminal, a campaign prints its progress as plain lines at growing intervals."""

import io
from collections import Counter
from contextlib import contextmanager

from rich.console import Console

from epochfuzz.harness.campaign.run.kinds import work_of
from epochfuzz.harness.campaign.run.progress import CampaignProgress
from tests.campaign.conftest import parameters


@contextmanager
def shown_on(written, **asked):
    out = Console(file=written, width=200, highlight=False)
    with CampaignProgress.on(out, work_of(parameters(protocols=("hw", "kip-101"), **asked).row())) as shown:
        yield shown


def lines(reports, **asked):
    written = io.StringIO()
    with shown_on(written, **asked) as shown:
        for schedules, elapsed in reports:
            counts = Counter({"schedules": schedules, "events 0": schedules * 50, "events 1": schedules * 50})
            counts["seen 0 no-committed-loss"] = counts["seen 1 no-divergence"] = 1
            shown.counted(counts, elapsed)
    return written.getvalue().splitlines()


def test_a_progress_line_shows_schedules_rate_findings_and_time_left():
    (line,) = lines([(1_000_000, 20.0)], schedules=4_000_000)
    assert line == "1,000,000 schedules · 5.0 million/s · 2 findings so far · 1 min 0 s left"


def test_a_campaign_with_a_time_limit_shows_the_time_left_until_the_limit():
    (line,) = lines([(1_000_000, 20.0)], schedules=None, seconds=28_820.0)
    assert line.endswith("8 h 0 min left")


def test_a_campaign_of_eight_hours_prints_fewer_than_30_lines():
    assert 10 < len(lines(((i, float(i)) for i in range(1, 28_800)), schedules=28_800)) < 30


def test_progress_without_elapsed_time_prints_no_line():
    assert lines([(1_000, 0.0)], schedules=4_000) == []


def test_a_campaign_until_stable_shows_no_time_left():
    (line,) = lines([(1_000_000, 20.0)], schedules=None, stable=1e-5)
    assert line == "1,000,000 schedules · 5.0 million/s · 2 findings so far"


def test_a_step_that_is_reported_for_each_block_prints_one_line():
    written = io.StringIO()
    with shown_on(written, schedules=4_000) as shown:
        for step in ("adding up the blocks", "adding up the blocks", "shrinking 2 failures", "adding up the blocks"):
            shown.doing(step)
    assert written.getvalue().splitlines() == ["adding up the blocks", "shrinking 2 failures", "adding up the blocks"]
