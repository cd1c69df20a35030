"""The systems that `python -m tests.systems` knows, each declared where its subject is."""

from tests.systems.fluss import build as fluss
from tests.systems.liftbridge import build as liftbridge
from tests.systems.rocketmq import build as rocketmq
from tests.systems.system import System

SYSTEMS: tuple[System, ...] = (*fluss.SYSTEMS, *liftbridge.SYSTEMS, *rocketmq.SYSTEMS)
