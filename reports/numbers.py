"""Numbers, dates and units in a text, normalised so that the same quantity in two spellings compares equal."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from .text import fold

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = re.compile(
    rf"""(?P<iso>\b(?P<y1>(?:19|20)\d\d)[-/.](?P<m1>0?[1-9]|1[0-2])(?:[-/.](?P<d1>0?[1-9]|[12]\d|3[01]))?(?![-.,]?\d))
    |(?P<cjk>(?P<y2>(?:19|20)\d\d)\s?年(?:\s?(?P<m2>1[0-2]|0?[1-9])\s?月(?:\s?(?P<d2>3[01]|[12]\d|0?[1-9])\s?[日号])?)?)
    |(?P<dmy>\b(?P<d3>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\s(?:of\s)?(?P<m3>{_MONTH})\b\.?,?(?:\s(?P<y3>(?:19|20)\d\d)\b)?)
    |(?P<mdy>\b(?P<m4>{_MONTH})\b\.?(?:\s(?P<d4>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b(?!,\d))?,?\s(?P<y4>(?:19|20)\d\d)\b)
    |(?P<md>\b(?P<m5>{_MONTH})\b\.?\s(?P<d5>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b(?![.,]?\d|\s?%))""",
    re.VERBOSE,
)
_SCALES = {
    "thousand": 3, "million": 6, "mn": 6, "mln": 6, "billion": 9, "bn": 9, "bln": 9, "trillion": 12, "tn": 12, (
        "trn"
    ): 12,
    "千": 3, "万": 4, "萬": 4, "百万": 6, "千万": 7, "亿": 8, "億": 8, "十亿": 9, "万亿": 12, "兆": 12,
}  # fmt: skip
_MONEY_SCALES = {"k": 3, "m": 6, "b": 9, "t": 12}
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_CURRENCIES = {
    "us$": "usd", "$": "usd", "usd": "usd", "dollar": "usd", "dollars": "usd", "美元": "usd",
    "€": "eur", "eur": "eur", "euro": "eur", "euros": "eur", "欧元": "eur", "£": "gbp", "gbp": "gbp",
    "¥": "¥", "jpy": "¥", "yen": "¥", "日元": "¥", "円": "¥", "cny": "¥", "rmb": "¥",
    "yuan": "¥", "人民币": "¥", "元": "¥",
    "hk$": "hkd", "港元": "hkd", "港币": "hkd", "₹": "inr", "inr": "inr", "₩": "krw", "krw": "krw",
}  # fmt: skip
_BEFORE = r"us\$|hk\$|usd|eur|gbp|jpy|cny|rmb|inr|krw|[$€£¥₹₩]"
_AFTER = "|".join(sorted((re.escape(c) for c in _CURRENCIES if c[0] not in "$€£¥₹₩"), key=len, reverse=True))
_UNITS = (
    r"°c|°f|km2|km²|km/h|m/s|m2|m²|m3|m³|km|cm|mm|nm|μm|kg|mg|μg|mw|gw|kw|tw|mwh|gwh|kwh|twh|ghz|mhz"
    r"|khz|hz|ms|gb|mb|tb|kb"
    r"|bps|ppm|db|kpa|mpa|公里|千米|米|公斤|吨|tons?|tonnes?|miles?|hours?|hrs?|days?|weeks?|months?|years?"
    r"|minutes?|mins?|seconds?"
    r"|小时|分钟|天|个月|岁"
)
_NUMBER = re.compile(
    rf"""(?P<word>(?<![^\W\d_\u3000-\uffff])[^\W\d_\u3000-\uffff]++(?=\d))?
    (?:(?P<cur>{_BEFORE})\s?)?
    (?P<sign>(?<![\w)\].])[-+])?
    (?P<digits>\d+(?:[,']\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)+|\d+|(?<![\w])\.\d+)
    (?:\s?-?(?P<scale>{_SCALE})(?![a-z])|(?P<short>[kmbt])(?![a-z\d]))?
    (?:\s?(?P<percent>%|％|percent(?:age\spoints?)?|per\scent|pct|个百分点|個百分點)|\s?(?P<money>{_AFTER})(?![a-z])|\s?(?P<unit>{_UNITS})(?![a-z\d]))?""",
    re.VERBOSE,
)
_DIGIT = re.compile(r"\d")
_SEPARATORS = re.compile(r"[,']")
_UNIT_FORMS = {
    "hrs": "hour",
    "hr": "hour",
    "min": "minute",
    "mins": "minute",
    "tonne": "ton",
    "km²": "km2",
    "m²": "m2",
    "m³": "m3",
}
_THIN = re.compile(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_VALUE = re.compile(r"-?\d[\d.]*")
_ISO = re.compile(r"(?:\d{4}|-)-\d\d(?:-\d\d)?\Z")


def numbers_in(text: str) -> list[str]:
    """Numbers, dates and units of a text in order, normalised.

    ``1,200`` → ``1200``; ``12.50 percent`` → ``12.5%``; ``$1.2 billion`` → ``1200000000usd``;
    ``3.5亿`` → ``350000000``; ``May 1, 2025``, ``2025年5月1日`` → ``2025-05-01``; ``May 1`` → ``--05-01``;
    ``H100`` → ``h100``; ``5 km`` → ``5km``.
    Yen and yuan share one sign and are one unit. Linear in the length of the text.
    """
    return list(_numbers(text))


@lru_cache(maxsize=256)  # a page is held against many claims
def _numbers(text: str) -> tuple[str, ...]:
    folded = fold(_THIN.sub(",", text))
    found: list[str] = []
    at = 0
    for match in _DATES.finditer(folded):
        found += _plain(folded, at, match.start())
        found.append(_date(match))
        at = match.end()
    return (*found, *_plain(folded, at, len(folded)))


def _date(match: re.Match[str]) -> str:
    groups = match.groupdict()
    index = next(i for i, name in enumerate(("iso", "cjk", "dmy", "mdy", "md"), 1) if groups[name] is not None)
    year, month, day = (groups.get(f"{part}{index}") for part in "ymd")
    out = year or "-"
    if month:
        out += f"-{int(month) if month.isdecimal() else _MONTHS[month]:02d}"
    return f"{out}-{int(day):02d}" if day else out


def _plain(text: str, start: int, end: int) -> list[str]:
    """Numbers that are no dates. Looked for only about digits: most of a page has none."""
    found: list[str] = []
    while (digit := _DIGIT.search(text, start, end)) is not None:
        near = _NUMBER.search(text, _lead(text, start, digit.start()), end)
        if near is None:
            break
        found.append(_normal(near))
        start = near.end()
    return found


def _lead(text: str, start: int, digit: int) -> int:
    """Where a number may begin whose first digit stands there: with the word it ends, or a currency and a sign."""
    at = digit
    while at > start and text[at - 1].isalnum():
        at -= 1
    return max(start, min(at, digit - 8))


def _normal(match: re.Match[str]) -> str:
    word, digits, short = match["word"], match["digits"], match["short"]
    if word and not match["cur"] and word not in ("fy", "usd", "eur", "gbp", "rmb", "cny", "jpy"):
        return word + digits + (short or "")
    if digits.count(".") > 1 or len(digits) > 25:
        return digits
    value = Decimal(_SEPARATORS.sub("", digits))
    currency = _CURRENCIES.get(match["cur"] or match["money"] or word or "", "")
    power = _SCALES.get(match["scale"] or "", 0)
    unit = "%" if match["percent"] else _unit(match["unit"])
    if short and currency:
        power = _MONEY_SCALES[short]
    elif short:
        unit = short
    sign = "-" if match["sign"] == "-" else ""
    return f"{sign}{_decimal(value.scaleb(power))}{currency or unit}"


def _unit(unit: str | None) -> str:
    if not unit:
        return ""
    unit = _UNIT_FORMS.get(unit, unit)
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


def _decimal(value: Decimal) -> str:
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def split_number(token: str) -> tuple[str, str]:
    """Value and unit of one item of :func:`numbers_in`; the unit of a date or identifier is empty."""
    if _ISO.match(token):
        return token, ""
    match = _VALUE.match(token)
    return (match.group().lstrip("-"), token[match.end() :]) if match else (token, "")


def missing_numbers(text: str, *places: str) -> list[str]:
    """Numbers and dates of ``text`` that none of ``places`` carries.

    A unit counts only where both sides name one; a date is carried by a more exact one, or by its parts; the sign is
    not compared (a claim may say *fell by 5 %* of ``-5 %``).
    """
    wanted = _numbers(text)
    if not wanted:
        return []
    have = [split_number(token) for place in places for token in _numbers(place)]
    units: dict[str, set[str]] = {}
    for value, unit in have:
        units.setdefault(value, set()).add(unit)
    return [token for token in wanted if not _carried(token, units)]


def _carried(token: str, units: dict[str, set[str]]) -> bool:
    value, unit = split_number(token)
    found = units.get(value)
    if found is not None and (not unit or "" in found or unit in found):
        return True
    if _ISO.match(token):
        return _date_carried(token, units)
    return unit == "" and any(v.startswith(value + "-") for v in units if _ISO.match(v)) if len(value) == 4 else False


def _date_carried(token: str, units: dict[str, set[str]]) -> bool:
    if any(v.startswith(token + "-") or v.removeprefix("-") == token.removeprefix("-") for v in units):
        return True
    year, _, rest = token.partition("-") if token[0] != "-" else ("", "", token[2:])
    rest_there = any(_ISO.match(v) and v[v.index("-", 1) + 1 :].startswith(rest) for v in units) if rest else True
    year_there = not year or any(v == year or v.startswith(year + "-") for v in units)
    return rest_there and year_there
