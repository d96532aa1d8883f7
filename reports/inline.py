"""What stands inside a paragraph and may be a citation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from unicodedata import numeric

from .labels import RINGS, ROW_KEY, SHORT_KEY, parse_numbers
from .urls import ARXIV, BARE_URL, DOI, PMID, pubmed, trim_url
from .zones import RAISED, Range


class Form(Enum):
    """How a possible citation is written."""

    LINK = "link"
    NUMBER = "number"
    """Numbers or keys in brackets."""
    SUPERSCRIPT = "superscript"
    PAREN = "paren"
    BARE = "bare"
    """An address, DOI or arXiv id in running text."""
    FLAT = "flat"
    """Superscripts that a copy made plain digits: ``growth.12 Then``."""
    RING = "ring"
    """A number in a circle: ``①``."""
    OPAQUE = "opaque"
    """A mark of a chat service that cannot be followed outside it."""


@dataclass(slots=True)
class Token:
    """One possible citation."""

    form: Form
    start: int
    end: int
    labels: tuple[str, ...] = ()
    target: str | None = None
    """The address as written."""
    text: str = ""
    """Of a link: its text."""
    keep: Range | None = None
    """The part that stays when the sentence is read (the text of a link)."""
    plain: bool = True
    """Of a bracket group: no prefix, caret or locator in it."""
    foot: bool = False
    """Written as a footnote, with a caret: ``[^1]``."""
    sure: bool = False
    """Written as only citations are (``\\cite{key}``): one even where no list has its label."""
    label_at: int | None = None
    """Of ``[text][label]``: where the label's bracket stands."""
    said: tuple[str, ...] = ()
    """What stands beside each number in the brackets: ``[1: Title]``, ``[2, a.org]``."""


LINK_TEXT = r"(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+"
LINK_TARGET = r"(?:[^()\\]|\\.|\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+\))*+"
_ALWAYS = r"\uea01\[【［〔<¹²³⁰⁴-⁹" + RINGS
_TRIGGER = re.compile(
    rf"[{_ALWAYS}\\(（.:@$^※xX\ue200](?:(?<=[{_ALWAYS}])"
    r"|(?<=\.)(?:(?<=www\.)|(?<=10\.)(?=\d{4}))"
    r"|(?<=:)(?:(?=//)(?:(?<=https:)|(?<=http:)|(?<=HTTPS:)|(?<=HTTP:))|(?<=doi:)|(?<=DOI:)|(?<=PMID:)(?=\s?\d{4})|(?=contentReference\[))"
    r"|(?<=[(（])(?=\d|[SsRrCc来來参參文引注出출](?:ources?|ef|ites?|itations?|源|考|献|用|处|\s?\d|처))"
    r"|(?<=\()(?=see )"
    r"|(?<=\\)(?=\[|[a-zA-Z]{0,7}cite|textsup)|(?<=\^)(?=\d)|(?<=@)(?=[A-Za-z])|(?<=\$)(?=\s?(?:\{\})?\^)|(?<=※)(?=\s?\d)"
    r"|(?<=[xX])(?=iv)(?:(?<=ar[xX])|(?<=ArX))|(?<=\ue200)(?=cite))"
)
"""Where something that may be a citation stands. The sign that is looked for is the rarest of it, ``:`` of ``https://``:
one set of signs is searched for ten times as fast as a choice of words."""
_LINK = re.compile(rf"\[({LINK_TEXT})\]\(({LINK_TARGET})\)", re.DOTALL)
_REFERENCE = re.compile(r"\[((?:[^\[\]\\\n]|\\.){1,300})\]\[([^\[\]\n]{0,60})\]")
_LOOSE_LINK = re.compile(rf"\[({LINK_TEXT})\]\((https?://[^\s<>]{{1,1000}}?)\)(?=[\s.,;:)\]!?。，；]|\Z)", re.DOTALL)
_BROKEN_LINK = re.compile(r"\[([^\[\]]{1,200})\]\n[ \t]*\((https?://[^\s()]{1,1000})\)")
"""Over the end of a line, as the text of a PDF has it."""
_DOUBLE = re.compile(rf"\[\[[ ]?(\^?[^\[\]\n]{{1,60}}?)[ ]?\]\](?:\(({LINK_TARGET})\))?", re.DOTALL)
_OUTER = re.compile(rf"\[\[([^\[\]\n]{{1,60}})\]\(({LINK_TARGET})\)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\\[([^\[\]\\\n]{1,80})\\\]")
_GROUP = re.compile(r"\[([^\[\]\n]{1,160})\]")
_WIDE = re.compile(r"[【［〔\[]([^【】［］〔〕\[\]\n]{1,160})[】］〕]")
_SUP = re.compile(r"<sup\b[^<>]{0,80}>((?:(?!</sup>).){0,150})</sup>", re.DOTALL | re.IGNORECASE)
_ANCHOR = re.compile(
    r"<a\s[^<>]{0,2000}?href\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))[^<>]{0,2000}>([^<]{0,400})</a>",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"<cite\s+(?:index|id|ids|source)\s*=\s*[\"']([^\"'<>]{1,200})[\"']\s*>((?:(?!</?cite\b).){1,2000})</cite>",
    re.DOTALL,
)
_OTHER_TAG = re.compile(r"<(?!a[\s>])[a-zA-Z][a-zA-Z0-9]{0,15}(?:\s[^<>]{0,4000})?>")
_AUTO = re.compile(r"<((?:https?://|www\.)[^<>\n]{1,4000})>", re.IGNORECASE)
_UNICODE_SUP = re.compile(r"[¹²³⁰⁴-⁹]+(?:[,˒ʼ'·⁻⁃–-][¹²³⁰⁴-⁹]+)*")
_PAREN = re.compile(r"[(（]\s?(\d{1,3}(?:\s?[,，、;；–—-]\s?\d{1,3})*)\s?[)）]")
_NAMED = re.compile(r"[(（]([^()（）\[\]\n]{2,60})[)）]")
_CARETS = re.compile(r"\^(\d{1,3}(?:\s?[,，、;；–-]\s?\d{1,3})*)\^")
_CITE = re.compile(r"\ue200cite[^\ue201\n]{0,300}\ue201")
_SHORT = re.compile("\uea01(\\d{1,3})\uea02")
_PLACED = re.compile(r"[^†\n]{1,120}†L\d{1,6}(?:-L?\d{1,6})?|oaicite:\d{1,4}")
"""``924092462506359†L12-L15``, ``F:path†L1-L9``: lines that an agent has read."""
_TURN = re.compile(r"turn\d{1,3}[a-z]{3,12}\d{1,3}")
_TURNS = re.compile(r"(?<!\w)cite(?:turn\d{1,3}[a-z]{3,12}\d{1,3})+")
_LATEX = re.compile(r"\\[a-zA-Z]{0,7}cite[a-zA-Z]{0,8}\*?(?:\[[^\[\]\n]{0,60}\]){0,2}\{([^{}\n]{1,300})\}")
_AT = re.compile(r"(?<![\w.@/])@([A-Za-z][\w:-]{2,40})")
_PANDOC = re.compile(r"(?:(?:\A|;)[^;@]{0,20}-?@[A-Za-z][\w:.-]*(?:[,\s][^;@]*)?)+\Z")
_PANDOC_KEY = re.compile(r"@([A-Za-z](?:[\w:.-]*\w)?)")
_CONTENT = re.compile(r":contentReference\[oaicite:\d+\](?:\{index=\d+\})?")
_BARE = re.compile(BARE_URL, re.IGNORECASE)
_DOI_TOKEN = re.compile(rf"(?:doi:\s?)?{DOI}", re.IGNORECASE)
_ARXIV_TOKEN = re.compile(rf"(?<![\w./-]){ARXIV}\]?")
_PMID_TOKEN = re.compile(PMID)
_TO_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

_PLAIN_GROUP = re.compile(r"[\d\s,，、;；–—~～-]+")
_KEY = re.compile(r"\^([^\s\[\]^]{1,40})\^?")
_KEYS = re.compile(r"[A-Za-z][\w.+:&-]{0,30}(?:\s?[,;，；]\s?[A-Za-z][\w.+:&-]{0,30})*")


def tokens(text: str, start: int, end: int, shields: list[Range]) -> list[Token]:
    """Everything in ``text[start:end]`` that is written like a citation, outside ``shields``, in order. Linear."""
    found: list[Token] = []
    starts = [a for a, _ in shields]
    at = start
    while (match := _TRIGGER.search(text, at, end)) is not None:
        where = match.start()
        if (char := text[where]) in _BEFORE:
            where -= _lead(text, where, char)
            if where < at:
                at = match.end()
                continue
        if starts and (i := bisect_right(starts, where)) and where < shields[i - 1][1]:
            at = shields[i - 1][1]
            continue
        token, stop = _token(text, where, end)
        if token is not None:
            found.append(token)
        at = max(stop, where + 1)
    if text.find("citeturn", start, end) >= 0:
        found = sorted([*found, *_turns(text, start, end, found, shields)], key=lambda token: token.start)
    return found


def _turns(text: str, start: int, end: int, found: list[Token], shields: list[Range]) -> Iterator[Token]:
    """``citeturn0search1``, which has no rare sign, outside of everything else."""
    taken = sorted([*shields, *((token.start, token.end) for token in found)])
    starts = [a for a, _ in taken]
    for match in _TURNS.finditer(text, start, end):
        i = bisect_right(starts, match.start())
        if i == 0 or match.start() >= taken[i - 1][1]:
            yield Token(Form.OPAQUE, *match.span())


_BEFORE = frozenset(".:xX")


def _lead(text: str, at: int, char: str) -> int:
    """How many letters of what is there stand before the sign by which it was found."""
    if char in "xX":
        return 2
    if char == ".":
        return 3 if text[at - 1] in "wW" else 2
    before = text[at - 1] if text[at + 1] != "c" else ""
    if not before:
        return 0
    return (5 if before in "sS" else 4) if before in "sSpPD" else 3 if before in "iI" else 0


def _raised(match: re.Match[str] | None, at: int) -> tuple[Token | None, int]:
    labels = parse_numbers(match[2]) if match else None
    if match is None or labels is None:
        return None, at
    form = Form.NUMBER if match["square"] else Form.SUPERSCRIPT
    return Token(form, *match.span(), labels, plain=False), match.end()


_NOTED = re.compile(r"※\s?(\d{1,3})(?:\s?[,，、]\s?※?\s?(\d{1,3}))*")


def _noted(match: re.Match[str] | None, at: int) -> tuple[Token | None, int]:
    """``※1``, ``※1、※2`` of Japanese reports."""
    if match is None:
        return None, at
    labels = tuple(dict.fromkeys(str(int(n)) for n in re.findall(r"\d+", match.group())))
    return Token(Form.RING, *match.span(), labels), match.end()


_OPAQUE = {"\ue200": _CITE, ":": _CONTENT}


def _latex(text: str, at: int, end: int) -> tuple[Token | None, int]:
    """``\\cite{key, another}`` and its like."""
    match = _LATEX.match(text, at, end)
    if match is None:
        return None, at
    keys = tuple(key for part in match[1].split(",") if (key := part.strip()))
    return (Token(Form.NUMBER, at, match.end(), keys, plain=False, sure=True) if keys else None), match.end()


def _token(text: str, at: int, end: int) -> tuple[Token | None, int]:
    """The token at a trigger, and where to go on."""
    char = text[at]
    if char == "[":
        return _bracket(text, at, end)
    if char in "【［〔":
        return _numbers(_WIDE.match(text, at, end), at)
    if char == "$" or text.startswith("\\texts", at):
        return _raised(RAISED.match(text, at, end), at)
    if char == "\\":
        return _numbers(_ESCAPED.match(text, at, end), at + 2) if text[at + 1] == "[" else _latex(text, at, end)
    if char == "※":
        return _noted(_NOTED.match(text, at, end), at)
    if char == "<":
        return _tag(text, at, end)
    if char in "(（":
        return _paren(text, at, end)
    if char in "hHw":
        return _bare(text, at, end)
    if char == "\uea01":
        return _numbers(_SHORT.match(text, at, end), at)
    if char in "\ue200:":
        match = _OPAQUE[char].match(text, at, end)
        return (Token(Form.OPAQUE, at, match.end()), match.end()) if match else (None, at)
    if char == "@":
        match = _AT.match(text, at, end)
        return (Token(Form.NUMBER, *match.span(), (match[1],), keep=match.span()), match.end()) if match else (None, at)
    if char > "\u2400":
        return Token(Form.RING, at, at + 1, (str(int(numeric(char))),)), at + 1
    if char in "1dDaAP":
        return _identifier(text, at, end)
    match = (_CARETS if char == "^" else _UNICODE_SUP).match(text, at, end)
    if match is None and char == "^" and text[at - 1 : at] in _STOPS:
        match = _CARET.match(text, at, end)
    if match is None or (char != "^" and _within_word(text, at, match.end())):
        return None, at
    digits = match.group().translate(_TO_DIGITS)
    labels = tuple(part for part in re.split(r"[^\d]+", digits) if part)
    return Token(Form.SUPERSCRIPT, at, match.end(), labels, plain=char != "^"), match.end()


_STOPS = frozenset('.!?"”)。')
_CARET = re.compile(r"\^(\d{1,3})(?=\s)")
"""``grew.^1 Then``: a raised number as some converters leave it."""


def _within_word(text: str, at: int, end: int) -> bool:
    """Whether raised digits stand in the middle of a Latin word: ``un²CLIP``."""
    around = text[at - 1 : at] + text[end : end + 1]
    return len(around) == 2 and around.isascii() and around.isalpha()


def _paren(text: str, at: int, end: int) -> tuple[Token | None, int]:
    """``(1, 2)``, or with a word that says what it is: ``(Source 1)``, ``（来源1）``."""
    match = _PAREN.match(text, at, end)
    if match is not None:
        labels = parse_numbers(match[1])
        return Token(Form.PAREN, at, match.end(), labels) if labels else None, match.end()
    named = _NAMED.match(text, at, end)
    labels = parse_numbers(re.sub(r"(?i)\A(?:see|cf\.?)\s", "", named[1])) if named else None
    return (Token(Form.PAREN, at, named.end(), labels, plain=False), named.end()) if named and labels else (None, at)


def _numbers(match: re.Match[str] | None, beyond: int) -> tuple[Token | None, int]:
    if match is None:
        return None, beyond
    body, at = match[1], match.start()
    if labels := parse_numbers(body):
        plain, foot = _PLAIN_GROUP.fullmatch(body) is not None, body.lstrip().startswith("^")
        return Token(Form.NUMBER, at, match.end(), labels, plain=plain, foot=foot), match.end()
    if key := _KEY.fullmatch(body.strip()):
        return Token(Form.NUMBER, at, match.end(), (key[1],), plain=False, foot=True), match.end()
    if _PLACED.fullmatch(body):
        return Token(Form.OPAQUE, at, match.end()), match.end()
    if (target := _target(body)) is not None:
        return Token(Form.BARE, at, match.end(), target=target), match.end()
    if _KEYS.fullmatch(body):
        keys = tuple(k.strip() for k in re.split(r"[,;，；]", body))
        sure = _TURN.fullmatch(keys[0]) is not None
        return Token(Form.NUMBER, at, match.end(), keys, sure=sure), match.end()
    if "@" in body and _PANDOC.match(body):
        return Token(Form.NUMBER, at, match.end(), tuple(_PANDOC_KEY.findall(body)), plain=False), match.end()
    if (addressed := _ADDRESSED.fullmatch(body)) is not None:
        return Token(Form.LINK, at, match.end(), (addressed[1],), addressed[2]), match.end()
    return _titled(match, body) or _shortcut(match, body), beyond


def _target(body: str) -> str | None:
    """Where brackets lead that hold nothing but an address or the number of a paper."""
    if (match := _ARXIV_TOKEN.fullmatch(body)) is not None:
        return f"https://arxiv.org/abs/{match[1]}"
    if (match := _PMID_TOKEN.fullmatch(body)) is not None:
        return pubmed(match[1])
    return body if _BARE.fullmatch(body) else None


_ADDRESSED = re.compile(r"\s*\^?(\d{1,4})(?:\s?[:：,，|]\s?|\s[-–—]\s|\s)<?((?:https?://|www\.)[^\s<>]+)>?\s*")
"""``[1: https://…]``: a number and its address."""


_WORDS = re.compile(r"[^\W\d_][\w .,&'’-]{1,60}")


def _shortcut(match: re.Match[str], body: str) -> Token | None:
    """``[the docs]``: a link where that is defined, with its text."""
    label = " ".join(body.split())
    plain = " " in label and _WORDS.fullmatch(label)
    return Token(Form.NUMBER, *match.span(), (label,), keep=match.span(1), plain=False) if plain else None


_TITLED = re.compile(r"\s*\^?(\d{1,4})(?:\s?[:：,，]\s?|\s[-–—|]\s)((?!https?:|www\.)[^\W\d_][^;；]{1,140})")


def _titled(match: re.Match[str], body: str) -> Token | None:
    """``[1: Title]``, ``[2, a.org]``, ``[1: a.org; 2: b.org]``: what stands beside a number must fit its entry."""
    parts = [_TITLED.fullmatch(part) for part in re.split("[;；]", body)] if body.lstrip(" ^")[:1].isdigit() else []
    if not parts or not all(parts):
        return None
    fits = [(str(int(part[1])), part[2]) for part in parts if part]
    labels, said = tuple(label for label, _ in fits), tuple(words for _, words in fits)
    return Token(Form.NUMBER, *match.span(), labels, plain=False, said=said)


_NUMBER = re.compile(r"\[(\d{1,4})\](?!\()", re.ASCII)


def _bracket(text: str, at: int, end: int) -> tuple[Token | None, int]:
    if (match := _NUMBER.match(text, at, end)) is not None and (at == 0 or text[at - 1] not in "!^"):
        return Token(Form.NUMBER, at, match.end(), (str(int(match[1])),)), match.end()
    image = at > 0 and text[at - 1] == "!" and (at < 2 or text[at - 2] != "\\")
    if (
        text.startswith("[[", at)
        and not image
        and (match := _OUTER.match(text, at, end) or _DOUBLE.match(text, at, end))
    ):
        return _link(match[1], match[2], match.span(), match.span(1))
    match = _LINK.match(text, at, end) or _LOOSE_LINK.match(text, at, end) or _BROKEN_LINK.match(text, at, end)
    if match is not None:
        if image or match[1].lstrip().startswith("!["):
            return None, match.end()
        return _link(match[1], match[2], match.span(), match.span(1))
    indexed = at > 0 and text[at - 1].isascii() and text[at - 1].isalnum()
    if at and text[at - 1] == "^" and (note := _NOTE.match(text, at, end)):
        return _note(note)
    reference = None if indexed else _REFERENCE.match(text, at, end)
    if image:
        return None, reference.end() if reference else at
    token, stop = _numbers(_GROUP.match(text, at, end) or _WIDE.match(text, at, end), at)
    numbered = token is not None and not token.said and (token.foot or "".join(token.labels[:1]).isdecimal())
    if reference and not numbered and not _pair(reference):
        return _reference(reference)
    return token, stop if token is None else token.end


def _pair(match: re.Match[str]) -> bool:
    """Whether ``[S1][S2]`` are two marks and no link of one defined as the other."""
    return SHORT_KEY.fullmatch(match[1]) is not None and SHORT_KEY.fullmatch(match[2]) is not None


_NOTE = re.compile(rf"\[((?:[^\[\]\n]|\[{LINK_TEXT}\]\({LINK_TARGET}\)){{1,400}})\]")


def _note(match: re.Match[str]) -> tuple[Token | None, int]:
    """``^[Smith, https://…]``: a footnote written where it is cited."""
    at, end = match.start() - 1, match.end()
    if labels := parse_numbers(match[1].strip(" ^")):
        return Token(Form.NUMBER, at + 1, end, labels, plain=False), end
    url = _BARE.search(match[1])
    return (
        Token(Form.LINK, at, end, target=trim_url(url.group()), text=match[1]) if url else None
    ), end if url else at + 2


def _reference(match: re.Match[str]) -> tuple[Token | None, int]:
    """``[text][1]``, ``[text][key]``, ``[text][]``: a link whose address is defined elsewhere."""
    shown, label = match[1], match[2].strip() or match[1].strip()
    labels = parse_numbers(label) or (label.removeprefix("^"),)
    keep = None if re.fullmatch(r"[\w-]+(?:\.[\w-]+)+", shown.strip()) else match.span(1)
    at = match.end(1) + 1
    return Token(Form.NUMBER, *match.span(), labels, None, shown, keep, plain=len(label) < 4, label_at=at), match.end()


_NO_TITLE = frozenset("/abcdefghijklmnopqrstuvwxyz0123456789")
"""Ends of a target that has no title behind it."""
_TITLE = re.compile(r"""\s+(?:"[^"]*"|'[^']*'|“[^”]*”)\s*\Z""")
_NO_WEB = re.compile(r"(?:mailto|tel|javascript|data|file|sandbox|attachment):", re.IGNORECASE)
_TARGETLIKE = re.compile(
    r"[a-z][a-z0-9+.-]*:|//|www\.|#|/|\.{1,2}/|[\w-]+(?:\.[\w-]+)+(?:[/?#]|\Z)|10\.\d{4}", re.IGNORECASE
)


def _link(text: str, target: str | None, span: Range, inside: Range) -> tuple[Token | None, int]:
    """The token of a link at ``span`` whose text stands at ``inside``."""
    at, end = span
    labels = parse_numbers(text.strip(" []\\")) or ()
    if not labels and "^" in text and (key := _KEY.fullmatch(text.strip())):
        labels = (key[1],)
    if target is None:
        return (Token(Form.NUMBER, at, end, labels, plain=False), end) if labels else (None, at + 1)
    written = (_TITLE.sub("", target) if target[-1:] not in _NO_TITLE else target).strip()
    if "{" in written and not text.strip() and not _TARGETLIKE.match(written):
        return Token(Form.OPAQUE, at, end), end
    written = written.partition(":contentReference[")[0].strip() or written
    written = written[1:-1] if written[:1] == "<" and written[-1:] == ">" else written
    if not labels and written.startswith("#") and (key := ROW_KEY.fullmatch(text.strip(" []\\"))) is not None:
        labels = (key.group(),)
    if labels and (written.startswith("#") or not _TARGETLIKE.match(written)):
        stop = end if written.startswith("#") else inside[1] + 1
        return Token(Form.NUMBER, at, stop, labels, plain=False), stop
    if written.startswith("#") or _NO_WEB.match(written):
        return None, inside[1] + 1
    hidden = labels or not text.strip() or _is_address(text, written) or text.startswith("oai_citation:")
    keep = None if hidden else inside
    return Token(Form.LINK, at, end, labels, written, text, keep), end


def _is_address(text: str, target: str) -> bool:
    """Whether a link's text is only its address or host: nothing that is read."""
    plain = (
        text.strip(" []()").casefold().removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")
    )
    return "." in plain and " " not in plain and plain in target.casefold()


def _tag(text: str, at: int, end: int) -> tuple[Token | None, int]:
    if match := _AUTO.match(text, at, end):
        return Token(Form.BARE, at, match.end(), target=match[1]), match.end()
    if match := _SUP.match(text, at, end):
        return _sup(match)
    if match := _CITED.match(text, at, end):
        keys = tuple(dict.fromkeys(re.findall(r"[^\s,;-][^\s,;]*?(?=-\d+\b|[\s,;]|\Z)", match[1])))
        return Token(Form.NUMBER, *match.span(), keys, keep=match.span(2), plain=False, sure=True), match.end()
    if match := _ANCHOR.match(text, at, end):
        return _link(match[4], match[1] or match[2] or match[3] or "", match.span(), match.span(4))
    other = _OTHER_TAG.match(text, at, end)
    return None, other.end() if other else at


_HREF_PLACE = re.compile(r"\bhref\s*=\s*[\"']?#[^\s\"'<>]*")


def _sup(match: re.Match[str]) -> tuple[Token | None, int]:
    inner = re.sub(r"<[^<>]*>|[\[\]\\]", "", match[1])
    within = _HREF_PLACE.sub("", match[1])
    if "](" in within or "href" in within or "http" in within:
        return None, match.start(1)  # the link inside is the mark
    labels = parse_numbers(inner)
    if not labels:
        return None, match.end()
    form = Form.NUMBER if "[" in match[1] or "href" in match[1] else Form.SUPERSCRIPT
    return Token(form, *match.span(), labels, plain=False), match.end()


def _bare(text: str, at: int, end: int) -> tuple[Token | None, int]:
    match = _BARE.match(text, at, end)
    if match is None:
        return None, at
    url = trim_url(match.group())
    if text.startswith(("...", "…"), at + len(url)):
        url += "..." if text.startswith("...", at + len(url)) else "…"
    return Token(Form.BARE, at, at + len(url), target=url), max(at + len(url), at + 1)


def _identifier(text: str, at: int, end: int) -> tuple[Token | None, int]:
    if match := _DOI_TOKEN.match(text, at, end):
        stop = at + len(trim_url(match.group()))
        doi = text[at:stop].split(":", 1)[-1].strip() if text[at] in "dD" else text[at:stop]
        return Token(Form.BARE, at, stop, target=f"https://doi.org/{doi}"), stop
    if match := _ARXIV_TOKEN.match(text, at, end):
        return Token(Form.BARE, at, match.end(), target=f"https://arxiv.org/abs/{match[1]}"), match.end()
    if match := _PMID_TOKEN.match(text, at, end):
        return Token(Form.BARE, at, match.end(), target=pubmed(match[1])), match.end()
    return None, at
