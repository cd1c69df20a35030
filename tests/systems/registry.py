"""The systems that `python -m tests.systems` knows, each declared where its subject is."""

from tests.systems.liftbridge import build as liftbridge
from tests.systems.system import System

SYSTEMS: tuple[System, ...] = (*liftbridge.SYSTEMS,)
