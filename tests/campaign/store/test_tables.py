"""The tables on disk match docs/reference/tables.md, and the examples of the page read the tables."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pytest

from epochfuzz.model.kafka.contract.situations import ASPECTS
from tests.documents.pages import blocks, named

PAGE = named("reference/tables.md")
TABLES = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
ROW = re.compile(r"^\| `([\w.\[\]]+)` \| ([^|]+) \| (.+) \|$", re.MULTILINE)


def columns(fields, within="") -> Iterator[tuple[str, str]]:
    """Yield the name and type of each column. The fields of a struct follow the struct."""
    for field in fields:
        kind, name = field.type, within + field.name
        yield name, text(kind)
        while pa.types.is_list(kind):
            kind, name = kind.value_type, f"{name}[]"
        if pa.types.is_struct(kind):
            yield from columns(kind, f"{name}.")


def text(kind) -> str:
    if pa.types.is_list(kind):
        return f"list<{text(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{text(kind.key_type)}, {text(kind.item_type)}>"
    return "struct" if pa.types.is_struct(kind) else str(kind)


def test_the_page_on_tables_describes_every_table_that_a_campaign_writes(undisturbed):
    written = {path.name for path in Path(undisturbed.directory.uri).iterdir()}
    assert written == {*TABLES, "cases"}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_columns_and_types_of_the_page(undisturbed, table):
    written = pyarrow.dataset.dataset(undisturbed.directory.path(table), partitioning="hive")
    assert [(name, kind) for name, kind, _ in ROW.findall(TABLES[table])] == list(columns(written.schema))


def test_the_page_on_tables_lists_every_value_of_every_aspect_of_a_situation():
    documented = {name: re.findall("`([^`]+)`", meaning) for name, _, meaning in ROW.findall(TABLES["situations"])}
    for aspect in ASPECTS[:-1]:
        assert documented[aspect.name.replace(" ", "_")] == list(aspect.values)


def test_the_examples_on_the_page_read_the_tables(undisturbed, capsys):
    with_pyarrow, with_spark = (
        block.text.replace("build/tonight", undisturbed.directory.uri) for block in blocks(PAGE, "python")
    )
    seen = {(each.protocol.name, each.property): each.seen for each in undisturbed.outcome.findings}
    exec(with_pyarrow, {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert {(protocol, name): int(count) for protocol, name, _, count in rows} == seen
    exec(with_spark, {})
    counted: Counter[tuple[str, str]] = Counter()
    for line in capsys.readouterr().out.splitlines()[3:-2]:
        protocol, name, _, count = (cell.strip() for cell in line.strip("|").split("|"))
        counted[protocol, name] += int(count)
    assert counted == seen
