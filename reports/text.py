"""Text at the level of characters and words: folding for exact matching, scripts, language, content words."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

_QUOTES_SINGLE = "‘’‚‛′‹›`´＇"
_QUOTES_DOUBLE = "“”„‟″«»＂〝〞「」『』"
_HYPHENS = "‐‑‒–—―−﹣－⁃"
_INVISIBLE = (
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\x00"
)
_WIDE = {0xFF01 + i: chr(0x21 + i) for i in range(94)}
_FOLD: dict[int, str | None] = {
    **_WIDE,
    **{ord(c): "'" for c in _QUOTES_SINGLE},
    **{ord(c): '"' for c in _QUOTES_DOUBLE},
    **{ord(c): "-" for c in _HYPHENS},
    **dict.fromkeys(map(ord, _INVISIBLE)),
    ord("…"): "...",
}
_INVISIBLE_MAP = dict.fromkeys(
    [*map(ord, _INVISIBLE), *range(0x0E, 0x1C), *range(0x01, 0x09), *range(0xE0000, 0xE0080)]
)
_INVISIBLE_ANY = re.compile(f"[{_INVISIBLE}\x01-\x08\x0e-\x1b\U000e0000-\U000e007f]")
_SPACES = re.compile(r"\s+")
_SURROGATE = re.compile("[\ud800-\udfff]")

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
"""Character class of Han, kana and hangul, for use inside ``[…]``."""

_CJK_CHAR = re.compile(f"[{CJK}]")
_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"[^\W_{CJK}]+(?:['’][^\W\d_{CJK}]+)?")


_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def word_set(words: str) -> frozenset[str]:
    """The words of a text as a set: how word lists are written here."""
    return frozenset(words.split())


STOPWORDS = word_set(
    """a about above after again against all also although am an and any are as at be because been before being below
    between both but by can could did do does doing down during each either etc ever every few for from further
    had has have having he her here hers him his how however i if in into is it its itself just many may me might
    more most much must my near nearly nor of off on once one only onto or other our out over own per rather said
    same say says she should since so some such than that the their them then there therefore these they this
    those though through thus to too toward towards under until up upon us very was we well were what when where
    whether which while who whom whose why will with within would yet you your according report reported reports
    based including"""
)
"""English words that carry no content of their own."""

_LANGUAGES = {
    "en": "the of and to in is that for with are this from",
    "de": "der die das und ist nicht mit von für auf eine werden",
    "fr": "le les des et est dans pour une que sur avec par",
    "es": "el los las una por con para que del como más entre",
    "pt": "os uma não para com dos das que mais como são pelo",
    "it": "il gli della che per una sono con nel più dei alla",
    "nl": "het een van voor niet met zijn dat worden naar ook bij",
    "pl": "nie się jest na że przez oraz dla jako lub był są",
    "tr": "ve bir bu için ile olarak olan daha gibi sonra kadar çok",
}
_MARKERS = {word: tag for tag, words in _LANGUAGES.items() for word in words.split()}
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)


_FOREIGN = re.compile("[\u0370-\u1fff\u2c00-\uffff]+")


def fold(text: str) -> str:
    """Fold what does not matter for an exact match: spaces, quotation marks, hyphens, width, unseen signs, case."""
    return _SPACES.sub(" ", text.translate(_FOLD)).strip().casefold()


def squeeze(text: str) -> str:
    """White space folded to single blanks, invisible and control characters removed."""
    if text.isprintable():  # no white space but blanks, nothing invisible
        return text.strip() if "  " not in text else " ".join(text.split())
    if _INVISIBLE_ANY.search(text):
        text = text.translate(_INVISIBLE_MAP)
    return " ".join(text.split())


_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_TAGGED = re.compile("[\U000e0000-\U000e007f]")
_UNSEEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]")


def unseen(text: str) -> list[int]:
    """Offsets of tag and direction-changing characters: nobody writes them into a report by accident."""
    if text.isascii() or not (any(sign in text for sign in _TURNING) or _TAGGED.search(text)):
        return []
    return [match.start() for match in _UNSEEN.finditer(text)]


def scalar(text: str) -> str:
    """Replace lone surrogates, which no encoding can carry, by U+FFFD; the length stays the same."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def scalar_json(value: Any) -> Any:
    """The same for all text, names of fields included, in a value that JSON can carry.

    ValueError, TypeError and RecursionError as ``json.dumps``.
    """
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(scalar(text)) if _SURROGATE.search(text) else value


def has_cjk(text: str) -> bool:
    """Whether there is a Han, kana or hangul character."""
    return _CJK_CHAR.search(text) is not None


def words(text: str) -> list[str]:
    """Words in order, folded; a run of CJK characters gives its overlapping pairs (a single one itself)."""
    folded = fold(text)
    found = [m.group() for m in _WORD.finditer(folded)]
    for run in _CJK_RUN.findall(folded):
        found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    return found


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A crude common stem, so that ``exports``, ``exported`` and ``exporting`` meet. Not for display."""
    word = word.removesuffix("'s")
    for suffix in ("ations", "ation", "ings", "ing", "ies", "ied", "edly", "ed", "ly", "es", "s", "e", "y"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def content_words(text: str) -> list[str]:
    """Stems of the words that carry content: no stop words, no bare numbers; CJK as character pairs."""
    return [stem(w) for w in words(text) if w not in STOPWORDS and not w.isdecimal() and (len(w) > 1 or has_cjk(w))]


def language_of(text: str) -> str | None:
    """The language as a BCP 47 tag, from script and frequent words of the first 2,500 characters; None when unclear."""
    sample = text[:2500]
    foreign = "" if sample.isascii() else "".join(_FOREIGN.findall(sample))
    letters = sum(map(str.isalpha, sample)) if foreign else 0
    for tag, script in _SCRIPTS if letters else ():
        share = len(script.findall(foreign)) / letters
        if share > (0.05 if tag == "ja" else 0.2):
            return tag
    return _latin_language(sample)


def _latin_language(sample: str) -> str | None:
    votes: dict[str, int] = {}
    word = _ASCII_WORD if sample.isascii() else _WORD
    for tag in filter(None, map(_MARKERS.get, word.findall(sample.lower()))):
        votes[tag] = votes.get(tag, 0) + 1
    if not votes:
        return None
    best = max(votes, key=lambda tag: votes[tag])
    return best if votes[best] >= 3 else None
