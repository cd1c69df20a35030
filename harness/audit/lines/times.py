"""Times: parse the time of a line, in any form that log layouts and log collectors use.

A time is in milliseconds since 1970 in UTC. A time without a zone counts as UTC, because the lines of one broker have
one zone. Two forms lack a full date. A time of day has a value below one day. A date without a year (syslog) has the
year NO_YEAR. Lines with these forms keep the order of their file.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

DAY: Final = 86_400_000  # milliseconds; a smaller time has no date
NO_YEAR: Final = 1972  # the year of dates without a year; it is a leap year
_FIRST: Final = 10**12  # the first time that a number may stand for: 2001-09-09
_END: Final = 42 * 10**11  # numbers stand for times before this one: 2103-02-04
_DATED: Final = int(datetime(NO_YEAR + 1, 1, 1, tzinfo=UTC).timestamp() * 1000)

_LENGTH = 64  # number of characters of the longest form
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Java writes the names of months in the language of its locale: French, German, Spanish, Italian, Portuguese, Dutch.
_FOREIGN = {
    **dict.fromkeys(("ene", "gen"), 1),
    **dict.fromkeys(("fév", "fev"), 2),
    **dict.fromkeys(("mär", "mrt"), 3),
    **dict.fromkeys(("avr", "abr"), 4),
    **dict.fromkeys(("mai", "mag", "mei"), 5),
    **dict.fromkeys(("juin", "giu"), 6),
    **dict.fromkeys(("juil", "lug"), 7),
    **dict.fromkeys(("aoû", "ago"), 8),
    "set": 9,
    **dict.fromkeys(("out", "ott", "okt"), 10),
    **dict.fromkeys(("déc", "dez", "dic"), 12),
}
MONTHS: Final = {name: number for number, name in enumerate(_NAMES, start=1)} | _FOREIGN
_CLOCK = r"(?P<hour{0}>\d{{1,2}}):(?P<minute{0}>\d\d)(?::(?P<second{0}>\d\d)(?:[.,:](?P<part{0}>\d{{1,9}}))?)?"
_FULL_CLOCK = r"(?P<hour{0}>\d\d):(?P<minute{0}>\d\d):(?P<second{0}>\d\d)(?:[.,:](?P<part{0}>\d{{1,9}}))?"
_HALF = r"(?: ?(?P<half{0}>[ap])\.?m\b\.?)?"
_ZONE = r"(?: ?(?P<zone{0}>Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w]))?"
_MONTH = "|".join(MONTHS)

# The most common forms come first: `%d{ISO8601}`, RFC 3339, `%d{yyyy/MM/dd HH:mm:ss}`.
_FORMS = (
    r"(?P<year1>\d{4})[-/.](?P<month1>\d\d)[-/.](?P<day1>\d\d)[T ,_]+"
    + _FULL_CLOCK.format(1)
    + _HALF.format(1)
    + _ZONE.format(1),
    # `%d{COMPACT}`: 20260904030000101; with T between by systemd and zap
    r"(?P<year2>(?:19|20)\d\d)(?P<month2>\d\d)(?P<day2>\d\d)[T _-]?(?P<hour2>\d\d)(?P<minute2>\d\d)(?P<second2>\d\d)"
    r"[.,]?(?P<part2>\d{1,9})?" + _ZONE.format(2),
    # `%d{DATE}`: 04 Sep 2026 03:00:00,101; web servers: 04/Sep/2026:03:00:00 +0000
    rf"(?P<day3>\d{{1,2}})[ /.-]{{1,2}}(?P<name3>{_MONTH})[^\W\d]*[ /.-]{{1,2}}(?P<year3>\d{{4}})[ :T,]+"
    + _FULL_CLOCK.format(3)
    + _HALF.format(3)
    + _ZONE.format(3),
    # java.util.logging: Sep 04, 2026 3:00:00 AM; Kibana: Sep 4, 2026 @ 03:00:00.101
    rf"(?P<name4>{_MONTH})\w*\.? +(?P<day4>\d{{1,2}}),? +(?P<year4>\d{{4}}),? +(?:@ )?"
    + _CLOCK.format(4)
    + _HALF.format(4),
    # syslog and ctime: Sep  4 03:00:00, Fri Sep 04 03:00:00 UTC 2026
    rf"(?P<name5>{_MONTH}) +(?P<day5>\d{{1,2}}) "
    + _FULL_CLOCK.format(5)
    + r"(?: (?:[A-Z]{3,4} )?(?P<year5>(?:19|20)\d\d)(?!\d))?",
    # 04.09.2026 03:00:00, 09/04/2026 03:00:00 and 9/4/2026, 3:00:00 AM
    r"(?P<day6>\d\d)[.](?P<month6>\d\d)[.](?P<year6>\d{4})[ ,T]+" + _FULL_CLOCK.format(6),
    r"(?P<month7>\d{1,2})[/-](?P<day7>\d{1,2})[/-](?P<year7>\d{4})[ ,T]+" + _CLOCK.format(7) + _HALF.format(7),
    # since 1970, in seconds with or without a fraction, in milliseconds, microseconds or nanoseconds
    r"(?P<epoch8>[12]\d{9}(?:[.,]\d{1,9}|\d{3}(?:\d{3}){0,2})?)(?![\d.])",
    _FULL_CLOCK.format(9) + _HALF.format(9),
)
_TIME: Final = re.compile(rf"(?<![\d.:])(?:{'|'.join(_FORMS)})(?!\d)", re.IGNORECASE | re.ASCII)
_CLUE: Final = re.compile(r"\d:\d|\d{8}", re.ASCII)  # every form contains a match
_LONG = re.compile(r"\d{10}")
_KINDS = tuple(str(i) for i in range(1, 10))
_COMMON: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?+(Z|[+-]\d\d:?\d\d)?+(?!\d)(?! ?[AaPp]\.?[Mm]\b)",
    re.ASCII,
)


def is_dated(time: int) -> bool:
    """Return whether a time has a date with its year."""
    return time >= _DATED


def times_in(text: str) -> list[tuple[int, int, int]]:
    """Return the times in a text, in order, as tuples: start and end of the time in the text, and milliseconds."""
    if len(text) < _LENGTH:  # nearly every line has a single time before its message, in the most common form
        common = _COMMON.search(text)
        if common is not None and ":" not in text[common.end() :] and ":" not in text[: common.start()]:
            time = _of_common(common)
            if time is not None and _LONG.search(text, common.end()) is None:
                return [(common.start(), common.end(), time)]
    if _CLUE.search(text) is None:
        return []
    found = []
    for match in _TIME.finditer(text):
        time = _of_match(match)
        if time is not None:
            found.append((match.start(), match.end(), time))
    return found


@lru_cache(1024)  # many lines have the same second
def _of_iso_second(text: str) -> int | None:
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000
    except ValueError:  # a day that does not exist, such as 31 April
        return None


def of_usual(second: str, part: str) -> int | None:
    """Return the time in milliseconds. `second` is in ISO 8601, and `part` has the three digits of the milliseconds.

    Returns None for a date that does not exist.
    """
    at = _of_iso_second(second)
    return None if at is None else at + int(part)


def _of_common(match: "re.Match[str]") -> int | None:
    year, month, day, hour, minute, second, part, zone = match.groups()
    at = _of_digits(year, month, day, hour, minute, second)
    return None if at is None else _milliseconds(at, part, zone)


@lru_cache(1024)  # many lines have the same second
def _of_digits(year: str, month: str, day: str, hour: str, minute: str, second: str) -> int | None:
    try:
        at = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    return int(at.timestamp()) * 1000


def _of_match(match: "re.Match[str]") -> int | None:
    kind = next(kind for kind in _KINDS if match[("epoch" if kind == "8" else "hour") + kind] is not None)
    said = {name[:-1]: value for name, value in match.groupdict().items() if name.endswith(kind)}
    if kind == "8":
        return of_number(said["epoch"].replace(",", "."))
    return of_fields(said)


def of_fields(said: Mapping[str, str | None]) -> int | None:
    """Return the time in milliseconds from the fields of a date and a clock, such as `year`, `month` and `hour`.

    `name` is the name of a month, and `part` the fraction of a second. `days` is the day of the year, from 1, in place
    of a month and a day. A year of two digits means 2000 to 2099. Returns None for a date that does not exist.
    """
    hour = int(said.get("hour") or 0)
    if half := said.get("half"):
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    year, name, days = said.get("year"), said.get("name"), said.get("days")
    month = MONTHS[name.lower()] if name else said.get("month")
    has_date = month is not None or days is not None
    year = f"20{year}" if year and len(year) == 2 else year
    try:
        at = datetime(
            int(year) if year else NO_YEAR if has_date else 1970,
            int(month or 1),
            int(said.get("day") or 1),
            hour,
            int(said.get("minute") or 0),
            int(said.get("second") or 0),
            tzinfo=UTC,
        )
        at += timedelta(days=int(days or 1) - 1)
    except (ValueError, OverflowError):  # a day that does not exist, such as 31 April
        return None
    return _milliseconds(int(at.timestamp()) * 1000, said.get("part"), said.get("zone"))


def _milliseconds(second: int, part: str | None, zone: str | None) -> int:
    milliseconds = second + (int(part[:3].ljust(3, "0")) if part else 0)
    if zone and zone[0] in "+-":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        milliseconds -= (1 if zone[0] == "+" else -1) * int(offset.total_seconds()) * 1000
    return milliseconds


def of_number(said: str | float) -> int | None:
    """Return the time in milliseconds from a number of seconds, milli-, micro- or nanoseconds since 1970.

    The size of the number determines its unit. Returns None for times before 2001-09-09 (_FIRST) or from
    2103-02-04 (_END) on.
    """
    try:
        number = float(said)
    except (ValueError, OverflowError):
        return None
    if not 1e9 <= number < 4.2e18:  # _FIRST in seconds, _END in nanoseconds; rejects NaN and infinity too
        return None
    while number >= _END:
        number /= 1000
    time = round(number if number >= 1e11 else number * 1000)
    return time if _FIRST <= time < _END else None


def of_value(said: Any) -> int | None:
    """Return the time from a JSON value: a text in any form, a number, or log4j 2's instant. None for other values."""
    if isinstance(said, dict):
        seconds, nano = said.get("epochSecond"), said.get("nanoOfSecond", 0)
        if isinstance(seconds, int) and isinstance(nano, int) and 0 <= seconds < 1 << 33:
            return seconds * 1000 + min(abs(nano), 999_999_999) // 1_000_000
        return None
    if isinstance(said, bool) or said is None:
        return None
    if isinstance(said, (int, float)):
        try:
            return of_number(float(said))
        except OverflowError:
            return None
    if not isinstance(said, str):
        return None
    times = times_in(said[:_LENGTH])
    return times[0][2] if times else None
