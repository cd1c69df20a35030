"""Planted defects, each caught."""

import pytest

from harness.defects import DEFECTS, SOUND, Defect, load
from harness.selftest import SETTINGS, catch
from model.events import parse_schedule
from model.protocols import GENERATIONS

SEED = 3


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_random_schedules_catch_the_defect(defect):
    assert catch(defect, SEED).property is not None


def test_the_sound_model_is_not_caught():
    sound = Defect("no-defect", "nothing is wrong", "isr", "def shrink(", "def shrink(")
    assert catch(sound, SEED, most=1000).property is None


def test_a_defect_whose_rule_is_gone_is_refused():
    gone = Defect("gone", "a rule of long ago", "isr", "a rule that is not there", "")
    with pytest.raises(ValueError, match=r"gone: model/isr\.py has no rule 'a rule that is not there'"):
        load(gone)


def test_a_planted_defect_leaves_the_model_itself_alone():
    load(next(defect for defect in DEFECTS if defect.name == "no-truncation"))
    p = SOUND.initial(GENERATIONS["hw"], SETTINGS)
    for event in parse_schedule(["produce A", "fetch B", "receive B", "crash B", "restart B", "notify B"]):
        SOUND.step(p, event)
    assert p.leo[1] == 0
