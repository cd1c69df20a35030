"""`cases` and `explain m1-loss`: a reader of a wheel finds the bundled cases, and reads what each shows."""

import pytest

from epochfuzz.harness.cases.bundled import CORPUS, bundled_cases, files

FILES = sorted(CORPUS.glob("*/*.yaml"))


def listed(epochfuzz, *words):
    return [case["id"] for case in epochfuzz("cases", *words, "--json").json["cases"]]


def test_cases_lists_every_bundled_case_with_its_first_sentence(epochfuzz):
    ended = epochfuzz("cases")
    assert ended.code == 0
    rows = [line for line in ended.out.splitlines() if line.startswith("│")]
    assert [row.split()[1] for row in rows] == list(files()) == [file.stem for file in FILES]
    for row, case in zip(rows, bundled_cases(), strict=True):
        assert " ".join(case.why.split())[:40] in row


@pytest.mark.parametrize(
    ("words", "found", "others"),
    [
        (["divergence"], {"divergence-under-the-high-watermark", "kafka-6880-zombie-replica"}, {"m1-loss"}),
        (["DATA", "loss"], {"m1-loss", "acks-1-loss"}, {"divergence-under-the-high-watermark"}),
        (["split brain"], {"no-split-brain", "two-controllers-split-brain"}, {"m1-loss"}),
        (["KAFKA-7128"], {"kafka-7128-isr-expansion"}, {"m1-loss"}),
        (["hw", "no-divergence"], {"divergence-power-loss"}, {"m1-loss", "fluss-4269-acked-loss"}),
        (["fluss-0.9.1"], {"fluss-4269-acked-loss"}, {"m1-loss"}),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_cases_finds_words_in_ids_descriptions_protocols_and_synonyms(epochfuzz, words, found, others):
    shown = set(listed(epochfuzz, *words))
    assert found <= shown
    assert not others & shown


def test_cases_reports_a_word_that_no_case_mentions(epochfuzz):
    ended = epochfuzz("cases", "xyzzy", "--json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "epochfuzz: no case mentions 'xyzzy'; `epochfuzz cases` lists all cases\n"


@pytest.mark.thorough
@pytest.mark.parametrize("case", bundled_cases(), ids=lambda case: case.id)
def test_explain_describes_each_case_and_names_the_command_that_replays_it(epochfuzz, case):
    ended = epochfuzz("explain", case.id.upper(), "--json")
    assert ended.code == 0
    text = " ".join(ended.err.split())
    assert " ".join(case.why.split()) in text
    assert f"epochfuzz replay {case.id} --trace" in text
    assert ended.json["kind"] == "case"
    for name, expected in (*case.expect.items(), *case.systems.items()):
        assert f"{name} breaks {', '.join(expected.broken) or 'nothing'}" in text


def test_explain_suggests_a_case_for_a_misspelt_id(epochfuzz):
    assert "did you mean 'm1-loss'?" in epochfuzz("explain", "m1-los").err
