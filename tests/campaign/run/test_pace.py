"""The pace sets the size of each wave by the clock and by the blocks and the time that are left."""

from epochfuzz.harness.campaign.run import pace
from epochfuzz.harness.campaign.run.pace import Pace


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


def paced(monkeypatch, cores=2, blocks_a_second=10.0):
    clock = Clock()
    monkeypatch.setattr(pace, "time", clock)
    paced = Pace(cores)
    clock.now = 10.0
    paced.done(int(blocks_a_second * clock.now))
    return paced


def test_the_first_wave_has_a_block_for_each_core():
    assert Pace(4).wave(0.0, blocks_remaining=None, seconds_remaining=60.0) == 4


def test_waves_grow_with_the_elapsed_time_up_to_a_limit(monkeypatch):
    sizes = [paced(monkeypatch).wave(elapsed, None, None) for elapsed in (1, 20, 60, 1_000, 10_000)]
    assert sizes == [20, 50, 150, 300, 300]


def test_no_wave_has_more_blocks_than_are_left(monkeypatch):
    assert paced(monkeypatch).wave(1_000.0, blocks_remaining=7, seconds_remaining=None) == 7
    assert paced(monkeypatch).wave(1_000.0, blocks_remaining=0, seconds_remaining=None) == 0


def test_a_wave_has_only_the_blocks_that_fit_into_the_time_left(monkeypatch):
    assert paced(monkeypatch).wave(1_000.0, blocks_remaining=None, seconds_remaining=3.0) == 30
    assert paced(monkeypatch).wave(1_000.0, blocks_remaining=None, seconds_remaining=0.0) == 0
    assert paced(monkeypatch).wave(1_000.0, blocks_remaining=None, seconds_remaining=-5.0) == 0


def test_a_wave_of_slow_blocks_has_a_block_for_each_core(monkeypatch):
    assert paced(monkeypatch, blocks_a_second=0.1).wave(0.0, None, None) == 2


def test_every_core_has_tasks_and_no_task_is_empty(monkeypatch):
    known = paced(monkeypatch)
    assert known.tasks(300) == 30
    assert known.tasks(1) == 1
    assert known.tasks(3) == 2
