"""Taking out what a reader would not see: hidden elements, comments, invisible characters.

A page under a judge's eyes may carry text for the judge alone. What is taken out is never shown to a model; the page is
flagged ``hidden_text``, and ``hidden_instructions`` when that text speaks to a model.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from ..reports import speaks_to_a_model

_STYLE = re.compile(
    r"display:none|visibility:(hidden|collapse)|opacity:0(\.0*)?(;|$|!)|font-size:0(\.0*)?(px|pt|em|rem|%)?(;|$|!)"
    r"|(left|top|right|text-indent):-\d{3,}|clip:rect\(0|clip-path:inset\((50|100)%|color:transparent"
    r"|(?<![-\w])(max-)?(height|width):0(px)?(;|$|!)"
)
_RULE = re.compile(r"([^{}@]{1,500})\{([^{}]{0,2000})\}")
_AT_BLOCK = re.compile(r"@[^{};]{0,300}\{(?:[^{}]{0,5000}\{[^{}]{0,5000}\}){0,500}[^{}]{0,5000}\}")
_SIMPLE = re.compile(r"(?:\w*)([.#])([\w-]+)$")
_DROP = ("script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas", "head")
_CHROME = frozenset({"nav", "dialog", "menu", "form", "button", "select", "option", "svg", "header", "footer"})
_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u061c\u180e\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_QUIET = re.compile("[\u00ad\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_JOINERS = re.compile("[\u200c\u200d]")


def strip_hidden(tree: Any) -> frozenset[str]:
    """Take hidden elements and comments out of an lxml tree, in place; the flags that this earns."""
    removed: list[str] = []
    hidden = _hidden_selectors(tree)
    for element in list(tree.iter()):
        if not isinstance(element.tag, str):
            removed.append(_comment(element))
        elif element.tag in _DROP:
            removed.extend(_speaking(element))
            _drop(element)
        elif _is_hidden(element, hidden):
            if not _in_chrome(element):
                removed.append(" ".join(element.itertext()))
            _drop(element)
    return flags_for(removed)


def _comment(element: Any) -> str:
    text = element.text or ""
    _drop(element)
    return text if speaks_to_a_model(text[:2000]) else ""


def _speaking(element: Any) -> list[str]:
    """Texts of templates and noscript parts that speak to a model; scripts and styles are code, not text."""
    if element.tag not in ("noscript", "template"):
        return []
    text = " ".join(element.itertext())
    return [text] if speaks_to_a_model(text[:2000]) else []


def flags_for(removed: list[str]) -> frozenset[str]:
    """``hidden_text`` for anything with words in it, ``hidden_instructions`` for words to a model."""
    worth = [text for text in removed if sum(map(str.isalnum, text)) >= 8]
    flags = {"hidden_text"} if worth else set()
    if any(speaks_to_a_model(text[:20_000]) for text in worth):
        flags.add("hidden_instructions")
    return frozenset(flags)


def _drop(element: Any) -> None:
    """Remove an element and keep the text behind it."""
    parent = element.getparent()
    if parent is None:
        return
    tail = element.tail or ""
    before = element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    element.tail = None
    parent.remove(element)


def _is_hidden(element: Any, selectors: frozenset[str]) -> bool:
    if element.tag in ("html", "body"):
        return False
    get = element.get
    if get("hidden") is not None or get("aria-hidden", "").strip().lower() == "true":
        return True
    if element.tag == "input" and get("type") == "hidden":
        return True
    if (style := get("style")) and _hides(style):
        return True
    if not selectors:
        return False
    names = {f".{name}" for name in get("class", "").split()} | {f"#{get('id')}"}
    return bool(names & selectors)


def _hides(style: str) -> bool:
    return _STYLE.search(re.sub(r"/\*.*?\*/|\s+", "", style.lower())) is not None


def _hidden_selectors(tree: Any) -> frozenset[str]:
    """Classes and ids that the page's own style sheets hide outright (rules within @media and the like left aside)."""
    found: set[str] = set()
    for style in tree.iter("style"):
        css = _AT_BLOCK.sub("", re.sub(r"/\*.*?\*/", "", (style.text or "")[:300_000], flags=re.DOTALL))
        for selectors, body in _RULE.findall(css):
            if _hides(body):
                found.update("".join(m.groups()) for s in selectors.split(",") if (m := _SIMPLE.fullmatch(s.strip())))
    return frozenset(found)


def _in_chrome(element: Any) -> bool:
    """Menus, dialogs and forms are hidden for good reasons."""
    return element.tag in _CHROME or any(parent.tag in _CHROME for parent in element.iterancestors())


def has_invisible(text: str) -> bool:
    """Whether ``text`` holds invisible or direction-changing characters worth a flag."""
    return clean_characters(text)[1] if _INVISIBLE.search(text) or _JOINERS.search(text) else False


def clean_characters(text: str) -> tuple[str, bool]:
    """Take invisible and direction-changing characters out; whether there were any worth a flag.

    Joiners stay where scripts need them (behind a letter that is not Latin, or an emoji).
    """
    seen = _INVISIBLE.search(text) is not None
    text = _QUIET.sub("", _INVISIBLE.sub("", text))
    if not _JOINERS.search(text):
        return text, seen
    kept = [c for i, c in enumerate(text) if c not in "\u200c\u200d" or (i and _needs_joiner(text[i - 1]))]
    return "".join(kept), seen or len(kept) != len(text)


def _needs_joiner(before: str) -> bool:
    if unicodedata.category(before) in ("So", "Sk", "Mn", "Mc"):
        return True
    return before.isalpha() and not unicodedata.name(before, "LATIN").startswith(("LATIN", "CYRILLIC", "GREEK"))
