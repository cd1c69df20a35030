"""A number is a time if this time is between 2001 and 2103. The size of the number determines its unit."""

import pytest

from epochfuzz.harness.audit.lines import times


@pytest.mark.parametrize("number", [999_999_999, 5e9, 1e11, 4.2e12, 1e13, 4.2e18])
def test_a_number_for_a_time_before_2001_or_after_2103_is_not_a_time(number):
    assert times.of_value(number) is None


@pytest.mark.parametrize("factor", [1, 1_000, 1_000_000, 1_000_000_000])
def test_the_size_of_a_number_determines_its_unit(factor):
    assert [times.of_value(second * factor) for second in (10**9, 4_199_999_999)] == [10**12, 4_199_999_999_000]
