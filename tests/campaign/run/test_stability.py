"""A campaign until stable stops at a schedule that depends only on its parameters."""

from itertools import islice

import pytest

from epochfuzz.harness.campaign.run.campaign import Campaign
from tests.campaign.conftest import Quiet, parameters, start

pytestmark = pytest.mark.thorough

STABLE = 0.2


def test_the_rounds_of_a_campaign_until_stable_grow_by_half():
    assert list(islice(parameters(schedules=None, stable=0.1).rounds(), 6)) == [2, 3, 4, 6, 9, 13]


def test_the_last_round_ends_with_the_last_requested_block():
    assert list(parameters(schedules=700, block=100, stable=0.1).rounds()) == [2, 3, 4, 6, 7]
    assert list(parameters(schedules=700, block=100).rounds()) == [7]
    assert list(parameters(schedules=None, seconds=1.0).rounds()) == [None]


@pytest.fixture(scope="module")
def stable(spark, tmp_path_factory):
    asked = parameters(schedules=None, stable=STABLE, block=100)
    campaign = start(spark, str(tmp_path_factory.mktemp("stable") / "c"), asked)
    return campaign.run(Quiet())


def test_a_stable_campaign_has_an_estimate_below_the_requested_bound(stable):
    assert stable.estimate.high < STABLE
    assert not stable.stopped_unstable
    assert stable.tally.schedules // 100 in set(islice(stable.parameters.rounds(), 30))


def test_an_interrupted_campaign_stops_at_the_schedule_of_an_uninterrupted_campaign(spark, stable, tmp_path):
    campaign = start(spark, tmp_path / "c", stable.parameters)
    first = iter(stable.parameters.rounds())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("epochfuzz.harness.campaign.walks.parameters.Parameters.rounds", lambda self: islice(first, 2))
        campaign.do_blocks(Quiet())
    assert campaign.work.summed(campaign.tables).tally.schedules < stable.tally.schedules
    Campaign.load(spark, campaign.directory.uri).do_blocks(Quiet())
    assert campaign.work.summed(campaign.tables).tally.schedules == stable.tally.schedules


@pytest.mark.slow
def test_a_campaign_that_runs_out_of_schedules_is_reported_as_not_stable(spark, tmp_path):
    asked = parameters(schedules=300, stable=0.001, block=100)
    outcome = start(spark, tmp_path / "c", asked).run(Quiet())
    assert outcome.stopped_unstable
    assert outcome.tally.schedules == 300
