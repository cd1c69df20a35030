"""Linking of rules and kernels: constants are evaluated, and each model has its own kernels."""

import ast

import pytest

from epochfuzz.harness.engine.runtime.compilation import digest_of
from epochfuzz.harness.engine.walk.walk import walk_block
from epochfuzz.model.core import specializer
from epochfuzz.model.core.model import Model
from epochfuzz.model.core.simple_model import ModelError, Property, Verb, simple_model
from epochfuzz.model.core.source import Rule
from epochfuzz.model.kafka.kafka_model import KAFKA
from tests.engine.reached import EAGER, PATIENT, SETTINGS
from tests.engine.toy import LOG, append, copy, elect, is_lost, promise


def linked(model: Model | None, *roots: Rule, **constants: int) -> dict[str, str]:
    return {each.name: ast.unparse(each.node) for each in specializer.specialize(roots, constants, model=model)}


def test_linking_evaluates_the_constants_of_a_protocol_in_its_rules() -> None:
    texts = [linked(LOG, promise, **protocol.numbers())["tests_engine_toy_promise"] for protocol in (EAGER, PATIENT)]
    assert ["for r in range" in text for text in texts] == [False, True]
    assert not any("waits" in text for text in texts)


def test_a_step_calls_the_rules_of_its_model_and_no_others() -> None:
    names = linked(LOG, LOG.step)
    assert {f"tests_engine_toy_{verb}" for verb in ("append", "copy", "elect", "promise")} < names.keys()
    assert not any("kafka" in name for name in names)


def test_a_kernel_is_linked_for_each_model_separately_and_never_without_a_model() -> None:
    for model, there, elsewhere in ((LOG, "tests_engine_toy", "model_kafka"), (KAFKA, "model_kafka", "tests_engine")):
        names = linked(model, walk_block)
        assert any(name.startswith(there) for name in names)
        assert not any(name.startswith(elsewhere) for name in names)
    with pytest.raises(specializer.CannotSpecialize, match="is linked without one"):
        linked(None, walk_block)


def one_of(*verbs: Rule) -> Model:
    return simple_model(
        "part",
        fields=LOG.table.variables[:-1],
        verbs=[Verb(rule) for rule in verbs],
        properties=[Property("no-loss", is_lost)],
        settings=dict(SETTINGS.numbers),
        bounds=["records"],
        protocols={"eager": {"waits": 0, "cuts": 0}},
    )


def test_each_model_has_its_own_digest_even_if_models_share_a_file() -> None:
    models = (LOG, KAFKA, one_of(append), one_of(append, copy), one_of(append, elect), None)
    assert len({digest_of(each) for each in models}) == len(models)
    assert digest_of(one_of(append)) == digest_of(one_of(append))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"settings": {"records": 1}}, "replicas is a setting of every model"),
        ({"bounds": ["lectures"]}, "the bound 'lectures' is not a setting; the settings are "),
        ({"protocols": {}}, "declare at least one protocol"),
        ({"protocols": {"one": {"waits": 0}, "other": {"cuts": 0}}}, "all protocols choose the same constants"),
    ],
)
def test_inconsistent_declarations_of_a_model_are_an_error(wrong: dict[str, object], said: str) -> None:
    declared = {
        "fields": LOG.table.variables[:-1],
        "verbs": [Verb(append)],
        "properties": [],
        "settings": dict(SETTINGS.numbers),
        "bounds": ["records"],
        "protocols": {"eager": {"waits": 0}},
    }
    with pytest.raises(ModelError, match=said):
        simple_model("wrong", **declared | wrong)  # type: ignore[arg-type]


def test_unknown_protocols_settings_and_events_are_errors() -> None:
    with pytest.raises(ModelError, match="unknown protocol 'lazy'; the protocols are eager, patient, stubborn"):
        LOG.protocol("lazy")
    with pytest.raises(ModelError, match="unknown setting 'epochs'; the settings are replicas, records, elections"):
        SETTINGS.changed_to({"epochs": 1})
    for text in ("drop A", "append", "append Z", "append AB"):
        with pytest.raises(ModelError, match=r"an event is a verb \(append, copy, elect\) and a replica, such as 'app"):
            LOG.events.parse(text)
