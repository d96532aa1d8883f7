"""Text that is meant for a judge and not for a reader: orders to a model, forged turns and verdicts, hidden elements.

What is found is named by a lint or by a flag of a page; what no reader sees is cut as well. A judge is protected by
fences and by rules in code, not by this: it shows people that somebody tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Range = tuple[int, int]

_WORDS_TO_A_MODEL = re.compile(
    r"(ignore|disregard|forget)\b.{0,40}\b(previous|prior|above|all|other|earlier)\b.{0,30}"
    r"(instruction|prompt|rule|context)"
    r"|system prompt|you are (now )?(a|an|the) .{0,30}(assistant|model|judge|evaluator|grader)"
    r"|as an ai\b|language model"
    r"|\b(note|message|attention|instructions?) (to|for) (the |any |all )?"
    r"(judge|evaluator|grader|reviewer|assistant|ai|llm)"
    r"|\b(judge|evaluator|grader|assistant|llm|ai|agent)s?\b.{0,40}\b(must|should|please|shall)\b"
    r"|(rate|score|grade|mark|label)\b.{0,40}\b(supported|10/10|highest|maximum|perfect|correct|true)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Broad: for text that is hidden, where any word to a model is one too many."""

_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}"
    r"\b(?:previous|prior|above|earlier|preceding|all other|existing)\b[^.\n]{0,30}"
    r"\b(?:instructions?|prompts?|rules|guidelines)\b"
    r"|\b(?:note|message|instructions?) (?:to|for) (?:the |any |all )?"
    r"(?:judge|evaluator|grader|llm|ai (?:judge|model|reviewer))s?\b"
    r"|\bnew instructions?\b[^.\n]{0,40}\b(?:priority|override|supersede)"
    r"|\b(?:answer|reply|respond)(?: with)? [\"'“]?(?:yes|supported)[\"'”]? to (?:every|each|all)\b"
    r"|\b(?:rate|score|grade|mark|label|judge)\b[^.\n]{0,60}"
    r"\b(?:this|the) (?:report|document|page|answer|text)\b[^.\n]{0,40}"
    r"\b(?:as supported|full marks|10/10|highest score|maximum score|best possible)\b"
    r"|\b(?:give|assign|award|output)s?\b[^.\n]{0,40}\b(?:highest|maximum|best possible|full|perfect) "
    r"(?:score|scores|marks|verdict|rating)s?\b"
    r"|(?:ignorier|missacht|vergiss)\w*[^.\n]{0,30}(?:vorherigen|bisherigen|obigen|früheren)[^.\n]{0,20}(?:anweisung|regel)"
    r"|ignore[zr]?[^.\n]{0,30}(?:instructions|consignes|règles)[^.\n]{0,20}(?:précédentes|ci-dessus)"
    r"|ignora[^.\n]{0,30}(?:instrucciones|reglas|istruzioni|regole)[^.\n]{0,20}(?:anteriores|previas|precedenti)"
    r"|игнориру\w*[^.\n]{0,30}(?:предыдущ|прежни)\w*[^.\n]{0,20}(?:инструкц|указани)"
    r"|(?:忽略|无视|無視)[^。\n]{0,12}(?:之前|以上|先前|此前|前面)[^。\n]{0,8}(?:指示|指令|要求|规则|提示)"
    r"|(?:以前|これまで|上記)の(?:すべての)?(?:指示|命令|ルール)[^。\n]{0,6}無視",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>|</?s>(?=\s*\[)|<start_of_turn>|<end_of_turn>"
    r"|(?:\A|(?<=\n))[ \t#]{0,8}(?:system|assistant)\s*:\s*(?=\S)"
    r"(?=[^\n]{0,300}\b(?:supported|verified|correct|full marks|confirmed)\b)",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"\{\s*\"(?:verdict|answer|score|rating|stance|supported|organisation|clarity|coherence|factuality)\"\s*:[^{}]{0,400}\}"
)
_HIDDEN_TAG = re.compile(
    r"<(span|div|p|font|small|section|aside|b|i|em|strong|a|td|li|sup|sub)\b(?=[^<>]{0,800}?(?:\shidden(?=[\s>=])|style\s*=\s*[\"'][^\"'<>]{0,400}?"
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d]*[1-9])|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|(?<!-)\bcolor\s*:\s*(?:white\b|#fff(?:fff)?\b|transparent))))[^<>]{0,1000}>",
    re.IGNORECASE,
)
_LOOKALIKE = re.compile(
    r"(?<![^\W\d_])(?=[^\W\d_]*[a-zA-Z])(?=[^\W\d_]*[\u0430-\u044f\u0410-\u042f\u03bf\u03bd\u0391-\u03a9])[^\W\d_]{3,}"
)
_FOREIGN = re.compile(r"[\u0370-\u04ff]")
_LATIN_GREEK = re.compile(r"[\u0370-\u03ff]")


def speaks_to_a_model(text: str) -> bool:
    """Whether hidden text has words for a model in it. Broad: not for text that a reader sees."""
    return _WORDS_TO_A_MODEL.search(text) is not None


_WORDS = (
    *("disregard", "forget", "overrid", "note ", "message ", "instruction", "answer", "reply"),
    *("respond", "rate", "score", "grade", "mark", "label", "judge", "give", "assign", "award", "output"),
)
"""How orders begin: plain search is ten times as fast as a pattern over the whole text. These begin a word."""
_WHOLE = frozenset(
    (
        "answer",
        "reply",
        "respond",
        "rate",
        "score",
        "grade",
        "mark",
        "label",
        "judge",
        "give",
        "assign",
        "award",
        "output",
    )
)
"""Of these: words of their own, but for an ``s``."""
_STARTS = ("ignor", "missacht", "vergiss", "игнориру", "忽略", "无视", "無視", "以前", "これまで", "上記")
_TAGS = {
    "<|": ("<|",),
    "inst]": ("[inst]", "[/inst]"),
    "sys>": ("<<sys>>", "<</sys>>"),
    "s>": ("<s>", "</s>"),
    "_of_turn>": ("<start_of_turn>", "<end_of_turn>"),
}
"""Tags of chats by a piece that they share."""
_TURNS = ("system", "assistant")
"""The same, where it must stand at the beginning of a line."""


def orders(text: str) -> Iterator[Range]:
    """Where visible text gives orders to a judge, imitates a turn of a chat, or forges a verdict. Linear."""
    done = 0
    for at in sorted(_places(text.lower())):
        match = _ORDER.match(text, at) or _TURN.match(text, at) if at >= done else None
        if match is not None:
            done = match.end()
            yield match.span()
    yield from (match.span() for match in _VERDICT.finditer(text))


def _places(lower: str) -> set[int]:
    found = {at for start in _STARTS if start[0] in lower for at in _all(lower, start)}
    found |= {at for word in _WORDS for at in _all(lower, word) if _begins(lower, at, word)}
    found |= {at - 4 for at in found if at > 3 and lower.startswith("new instruction", at - 4)}
    found |= {at for part, tags in _TAGS.items() if part in lower for tag in tags for at in _all(lower, tag)}
    for start in _TURNS:
        lines = ((at, lower.rfind("\n", max(0, at - 9), at) + 1) for at in _all(lower, start))
        found |= {line for at, line in lines if line or at < 9}
    return found


def _begins(text: str, at: int, word: str) -> bool:
    """Whether a word stands there and not only its letters."""
    if at and (text[at - 1].isalnum() or text[at - 1] == "_"):
        return False
    after = text[at + len(word) : at + len(word) + 2]
    return word not in _WHOLE or not after[:1].isalnum() or (after[0] == "s" and not after[1:].isalnum())


def _all(text: str, piece: str) -> Iterator[int]:
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + 1)


def lookalikes(text: str) -> Iterator[Range]:
    """Words that mix Latin letters with Cyrillic or Greek ones that look like them. Linear."""
    if text.isascii() or not _FOREIGN.search(text):
        return
    for match in _words_with_foreign(text):
        word = match.group()
        if not _LATIN_GREEK.search(word) or sum(map(str.isascii, word)) * 2 > len(word):
            yield match.span()


def _is_letter(char: str) -> bool:
    return char.isalnum() and not char.isdecimal()


def _words_with_foreign(text: str) -> Iterator[re.Match[str]]:
    """The words that mix scripts; looked for only where there is a letter of another script."""
    at = 0
    while (foreign := _FOREIGN.search(text, at)) is not None:
        start, at = foreign.start(), foreign.end()
        while start and _is_letter(text[start - 1]):
            start -= 1
        if (match := _LOOKALIKE.match(text, start)) is not None:
            yield match
            at = match.end()
        else:
            while at < len(text) and _is_letter(text[at]):
                at += 1


def hidden_elements(text: str) -> Iterator[Range]:
    """HTML elements in Markdown that a style or attribute hides, with what stands in them, up to 20,000 characters."""
    at = 0
    for match in _HIDDEN_TAG.finditer(text):
        if match.start() < at:
            continue
        closing = f"</{match[1].lower()}>"
        end = _find(text, closing, match.end())
        at = end + len(closing) if end >= 0 else match.end()
        yield match.start(), at


def _find(text: str, closing: str, start: int) -> int:
    found = text[start : start + 20_000].lower().find(closing)
    return -1 if found < 0 else start + found
