"""Numbers that stand bare, as copies of superscripts leave them: ``growth.12 Then``, ``growth12, then``, ``grew 12.``

A number alone proves nothing. They are looked for in reports that have a numbered list and no other numbered marks, and
what could as well be a quantity only counts where such numbers name most of the list.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from .book import SourceBook
from .inline import Form, Token
from .labels import parse_numbers
from .text import word_set
from .titles import is_reference_title
from .zones import Range

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_MORE = r"\d{1,3}(?:,\s?\d{1,3})*+"
_SURE = re.compile(
    r"(?:(?<=[^\W\d_][^\W\d_][.,;!?])|(?<=[^\W\d_][^\W\d_]:)(?=\d{1,3}\s*(?:\n|\Z))|(?<=\b(?:19|20)\d\d\.)(?=\d{1,3}\s[A-Z])|(?<=[)\]”\"’%`*][.,;:!?])"
    rf"|(?<=[。！？；，”）])){_MORE}(?=\s|\Z|[。，；])"
    rf"|(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af”）)%]\s){_MORE}(?=[。，；！？])"
)
"""Directly behind punctuation, or in Chinese and Japanese between a blank and punctuation."""
_LOOSE = re.compile(
    rf"(?:(?<=[^\W\d_\u3040-\uffff]{{3}})|(?<=[)\]”\"’%*])|(?<=[{_CJK}]{{2}})(?=[\d,]{{1,12}}[。，、.;；！？!?]))(?P<glued>{_MORE})(?=[.,;:!?)”|。，；：](?!\d)|\s|\Z)"
    rf"|(?P<figure>(?<=\b(?:19|20)\d\d)\d{{1,2}}(?=[.,;:](?!\d))|(?:(?<=\d\.\d\.)|(?<=\d\.\d\d\.)){_MORE}(?=\s[A-Z“\"]))"
    rf"|(?:(?<=[^\W\d_]{{2}}[ ])|(?<=[)”\"’%*][ ]))(?P<apart>{_MORE})(?=\s?[.,;:!?)|。，；：](?!\d)|\s*\Z)"
    rf"|(?<=[)”][ ])(?P<aside>{_MORE})(?=[ ][a-z])"
)
"""Directly behind a word or figure (``in 20243, …``), or behind a word and a blank before punctuation: quantities and
names look the same. ``aside``: behind a bracket within a sentence; taken, as behind a word in small letters, where
numbers that are sure name three fifths of the list."""
_WORD = re.compile(r"[^\W_]+\Z")
_COUNTS = word_set(
    """phase phases grade step steps type level section sections chapter chapters figure figures fig
    table tables tab part stage stages version versions day week month year page pages
    number numbers no nr top tier class category group round season episode volume vol issue article art act rule law
    appendix annex box equation eq theorem scenario option case study experiment model task goal windows ios android
    python route highway line room floor unit module lesson question point item column row cell game generation gen
    series mark cohort arm zone region district pillar scope world war age aged size score rank ranked rating factor
    by to of than about from at in on with for over under above below around approximately roughly nearly almost only
    just between and or is was are were be been equal equals reached reaches reach hit exceeds exceeded minus plus times
    the a an all these those least most first last next per up down some versus vs until since through till before
    after within every each total sum worth as had has have were into out another other than both past ca circa
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec kapitel stufe abschnitt von bis um auf am im ab rund etwa capítulo chapitre étape paso fase
    de du en à le la les el los por con hasta entre environ llama python gpt covid web qwen gemini claude"""
)
"""Words that a number belongs to, so that it is none of the list's."""


def with_flat(
    text: str, book: SourceBook, found: list[list[Token]], places: Sequence[tuple[int, int, list[Range]] | None]
) -> list[list[Token]]:
    """The tokens of each paragraph with its bare numbers, where the report cites so; as they are where it does not.

    ``places`` are start, end and shields of the paragraphs to look in; None for the others.
    """
    rows = [_flat(text, old, *place) if place else [] for old, place in zip(found, places, strict=True)]
    sure = {label for row in rows for token in row if token.sure for label in token.labels if book.knows(label)}
    others = any(token.form is not Form.PAREN for row in found for token in row)
    size = book.size
    raised = {label for row in found for token in row if token.form is Form.SUPERSCRIPT for label in token.labels}
    if others and len(sure | set(filter(book.knows, raised))) * 2 < size:
        sure = set()
    glued = _proven(book, rows, sure, "glued") if size > 1 else set()
    apart = _proven(book, rows, sure, "apart") if size > 1 else set()
    aside = len(sure) * 5 >= size * 3 > 3
    kinds = {kind for kind, proven in (("", sure), ("glued", glued), ("apart", apart), ("aside", aside)) if proven}
    if not kinds:
        return found
    rows = [[t for t in row if t.text in kinds or (aside and _follows(text, t))] for row in rows]
    return [_merged(old, row) for old, row in zip(found, rows, strict=True)]


def _follows(text: str, token: Token) -> bool:
    """Whether a number behind a blank follows a word in small letters: ``in fact 8, which``, not ``Llama 3, which``."""
    word = _WORD.search(text[max(0, token.start - 30) : token.start].rstrip(" "))
    return token.text == "apart" and word is not None and len(name := word.group()) > 1 and name.islower()


def with_cells(
    text: str, book: SourceBook, found: list[list[Token]], rows: Sequence[tuple[int, int, tuple[str, ...]] | None]
) -> list[list[Token]]:
    """The tokens of each block with the numbers that fill cells under a heading such as *Sources*.

    ``rows`` are body, end and header of table rows; None for other blocks.
    """
    columns = {row[2]: _source_columns(row[2]) for row in rows if row is not None}
    if not any(columns.values()):
        return found
    return [
        _with_row(text, book, old, row[0], row[1], columns[row[2]]) if row is not None and columns[row[2]] else old
        for old, row in zip(found, rows, strict=True)
    ]


def _source_columns(header: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(
        i for i, title in enumerate(header) if is_reference_title(title) or _COLUMN.fullmatch(title.strip("* "))
    )


_COLUMN = re.compile(
    r"(?:key |main )?(?:sources?|refs?\.?|citations?|cites?|出处|来源|出典|출처|quelle|fuente|fonte)", re.IGNORECASE
)
_CELL = re.compile(rf"(?<!\\)\|\s*(?:(?P<numbers>{_MORE})\s*(?=\||\Z))?")


def _with_row(
    text: str, book: SourceBook, old: list[Token], start: int, end: int, columns: tuple[int, ...]
) -> list[Token]:
    new = []
    for number, match in enumerate(_CELL.finditer(text, start, end)):
        if number in columns and match["numbers"]:
            labels = parse_numbers(match["numbers"])
            if labels and all(map(book.knows, labels)):
                new.append(Token(Form.FLAT, *match.span("numbers"), labels, sure=True))
    return sorted([*old, *new], key=lambda t: t.start) if new else old


def _merged(old: list[Token], new: list[Token]) -> list[Token]:
    """Bare numbers among the other tokens; ``(4)`` is none where numbers stand bare."""
    kept = [t for t in old if t.form is not Form.PAREN]
    return sorted([*kept, *new], key=lambda t: t.start)


def _proven(book: SourceBook, rows: Iterable[list[Token]], sure: set[str], kind: str) -> set[str]:
    """The labels that numbers of a doubtful kind name, where they name most of the list, and few numbers beyond it."""
    mine = [token for row in rows for token in row if token.text == kind]
    known = [token for token in mine if all(map(book.knows, token.labels))]
    labels = {label for token in known for label in token.labels}
    whole = len(labels | sure) if kind == "glued" else len(labels)
    enough = whole * 5 >= book.size * 3 and len(known) * 3 >= len(mine) * 2
    if kind == "glued":  # rare but for marks: five different ones that are nearly all known, and a third of the list
        enough = enough or (len(labels) >= 5 and len(known) * 10 >= len(mine) * 9 and whole * 3 >= book.size)
    return labels if enough and len(labels) > (0 if sure and kind == "glued" else 1) else set()


def _flat(text: str, old: list[Token], start: int, end: int, shields: list[Range]) -> list[Token]:
    shields = sorted([*shields, *((token.start, token.end) for token in old if token.form is not Form.PAREN)])
    found = _tokens(_SURE, text, start, end, shields)
    taken = sorted([*shields, *((token.start, token.end) for token in found)])
    return sorted([*found, *_tokens(_LOOSE, text, start, end, taken)], key=lambda t: t.start)


def _tokens(pattern: re.Pattern[str], text: str, start: int, end: int, shields: list[Range]) -> list[Token]:
    found: list[Token] = []
    starts = [a for a, _ in shields]
    for match in pattern.finditer(text, start, end):
        kind, figure = match.lastgroup or "", match.lastgroup == "figure"
        labels = parse_numbers(match.group())
        if not labels or not (figure or _alone(text, start, match.start(), kind)):
            continue
        i = bisect_right(starts, match.start())
        if i == 0 or match.start() >= shields[i - 1][1]:
            found.append(Token(Form.FLAT, *match.span(), labels, text="glued" if figure else kind, sure=not kind))
    return found


_NUMBERED_CJK = frozenset("图圖表式版步章节節型代期级級号號楼层層卷册")
_COUNTED_CJK = frozenset("第到为是达约共超近仅前每至和于在从有比过過為達約")


def _alone(text: str, start: int, at: int, kind: str) -> bool:
    """Whether a number does not belong to the word or character before it."""
    return not (_counted if kind else _ordinal)(text, start, at)


def _ordinal(text: str, start: int, at: int) -> bool:
    """``排名第 2。``: a number that belongs to the character before."""
    return at - 2 >= start and text[at - 1] == " " and text[at - 2] in _COUNTED_CJK


def _counted(text: str, start: int, at: int) -> bool:
    """Whether the word before a number is one that takes numbers, or is written like a name: ``H100``, ``GPT4``."""
    before = text[max(start, at - 30) : at]
    if text[at - 1] in _COUNTED_CJK or text[at - 1] in _NUMBERED_CJK:
        return True
    apart = before[-1:] == " "
    word = _WORD.search(before.rstrip(" "))
    if word is None:
        return False
    name = word.group()
    return name.casefold() in _COUNTS or any(map(str.isdigit, name)) or (not apart and name[-1].isupper())
