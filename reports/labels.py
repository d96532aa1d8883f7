"""The labels that a citation mark names: numbers with ranges, words and places in a source beside them."""

from __future__ import annotations

import re

RINGS = "\u2460-\u2487\u24eb-\u24fe\u2776-\u2793\u3251-\u325f\u32b1-\u32bf"
"""Character class of numbers in circles or brackets of their own, for use inside ``[…]``."""
_PREFIX = (
    r"(?:(?:refs?|references?|sources?|src|papers?|citations?|cite|web(?:page)?|docs?|document"
    r"|(?:search[ _])?results?|search|see|cf|vgl|см"
    r"|来源|來源|参考文献|參考文獻|参考資料|参考资料|参考|參考|文献|资料|引用|注|出典|出处|출처|quelle|fuente|fonte|источник)"
    r"\.?\s*[:：#]?\s*)?"
)
_ONE = rf"{_PREFIX}\^?\#?(?:\d{{1,4}})\^?(?:\s?[-–—~～‐‑−至到]\s?\^?\d{{1,4}}\^?)?"
_LOCATOR = (
    r"(?:\s?†[^,，;；]*|(?:[,，]\s?|\s|:)(?:(?:pp?\.|pages?|sec\.|section|ch\.|chapter|table|fig\.|figure|tab\."
    r"|para\.|§|¶|l|ss?\.|seiten?|kap\.|abs\.|rn\.|págs?\.|cap\.|art\.|pagg?\.|с\.|стр\.)\s?[\w.–-]{1,12}|at\s\d[\d–-]{0,9}|第?\s?\d[\d–-]*\s?[页頁]))?"
)
_SEPARATOR = r"\s{0,3}(?:[,，、;；&+]|and|和|及|/(?=\s?\d))\s{0,3}|\s"
_NUMBERS = re.compile(rf"\s*{_ONE}{_LOCATOR}(?:(?:{_SEPARATOR}){_ONE}{_LOCATOR})*+\s*", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_ITEM = re.compile(r"(\d{1,4})\^?(?:\s?[-–—~～‐‑−至到]\s?\^?(\d{1,4}))?")
_STRIP_LOCATOR = re.compile(_LOCATOR.removesuffix("?") + r"(?=\s*(?:[,，;；]|\Z))", re.IGNORECASE)
SHORT_KEY = re.compile(r"[A-Za-z]{1,12}[-_:]?\d{1,4}")
"""``S1``, ``web:3``."""
ROW_KEY = re.compile(r"[A-Za-z][A-Za-z.:_-]{0,24}\d[\w.:-]{0,24}")
"""The same, and longer ones: ``SRC-2024-01``, ``Lee2023``."""
LARGEST_RANGE = 200
"""Numbers; a longer range such as ``[1-500]`` is no citation."""


def plain_label(label: str) -> str:
    """The label of an entry as marks are read: ``web:1`` and ``#1`` are 1, as ``[web:1]`` and ``[#1]`` are."""
    numbers = None if label.isdecimal() else parse_numbers(label)
    return numbers[0] if numbers and len(numbers) == 1 else label


def parse_numbers(body: str) -> tuple[str, ...] | None:
    """The numbers that the inside of a bracket group names, ranges spelt out; None when it is no list of numbers."""
    if len(body) < 5 and body.isascii() and body.isdigit():
        return (str(int(body)),)
    if _DIGIT.search(body) is None or _NUMBERS.fullmatch(body) is None:
        return None
    found: list[str] = []
    for match in _ITEM.finditer(_STRIP_LOCATOR.sub("", body)):
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            found += [str(first), str(last)]
        elif last - first >= LARGEST_RANGE:
            return None
        else:
            found += map(str, range(first, last + 1))
    return tuple(dict.fromkeys(found)) or None
