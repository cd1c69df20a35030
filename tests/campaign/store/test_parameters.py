"""A campaign keeps its parameters, which determine its blocks."""

from dataclasses import replace
from typing import Any, cast

from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.campaign.conftest import parameters, start


def test_parameters_are_equal_after_a_round_trip_through_text():
    asked = parameters(protocols=("kip-320:fencing=none", "hw"), schedules=None, seconds=1.5)
    asked = replace(asked, settings=Configuration(replicas=3, acks="1", power_loss=True))
    assert Parameters.from_text(asked.text()) == asked


def test_parameters_are_equal_after_a_round_trip_through_the_directory(spark, tmp_path):
    asked = parameters(seed=2**62)
    start(spark, tmp_path / "a campaign", asked)
    assert cast(Any, Campaign.load(spark, str(tmp_path / "a campaign")).work).parameters == asked


def test_new_parameters_have_the_digest_of_this_model():
    assert parameters().model == model_digest()


def test_blocks_partition_the_schedules():
    asked = parameters(schedules=1_250, block=500)
    assert [asked.range_of(block) for block in range(asked.blocks)] == [(0, 500), (500, 500), (1_000, 250)]
