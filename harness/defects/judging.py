"""Mistakes in judging: a promise forgotten, or a loss not seen. Only a protocol known to be flawed can show them."""

from epochfuzz.harness.defects.defect import Defect

DEFECTS = (
    Defect(
        "loss-judged-on-any-replica",
        "a committed record counts as kept if any replica has it",
        "properties",
        "return leader != NONE and p.exposed & ~p.standing[leader] != 0",
        "return leader != NONE and p.exposed & ~p.standing[0] & ~p.standing[1] != 0",
        protocol="hw",
        in_judging=True,
    ),
    Defect(
        "promises-forgotten",
        "what consumers have read is not remembered",
        "promises",
        "        p.exposed |= record\n",
        "",
        protocol="hw",
        in_judging=True,
    ),
    Defect(
        "divergence-judged-below-nothing",
        "logs are compared below offset 0, which is not at all",
        "properties",
        "both = min(p.high_watermark[a], p.high_watermark[b])",
        "both = 0",
        protocol="hw",
        in_judging=True,
    ),
)
