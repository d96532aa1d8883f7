"""Cuts what chat and agent interfaces leave around a report. Deterministic, and reversible to the letter.

Rules, applied to the text as given, each cut kept in ``Report.cuts``:

``byte_order_mark``  the mark at the start of a file;
``control``          control characters (NUL and its like);
``escape``           escape sequences of terminals (colours, titles, links), and an escape character that begins none;
``front_matter``     YAML between ``---`` lines at the start;
``log_header``       header of an agent's log up to its ``ANSWER:`` line (query id, question, list of research tasks);
``chat_header``      conversation header, research plan and panel titles of a shared chat up to where the report starts;
``thinking``         ``<think>…</think>`` and the like;
``tool_note``        paragraphs in which an agent only says what it is about to search or read;
``preamble``         a first paragraph that only announces the report (“Here is the report:”);
``wrapper``          the fence of a report that stands as a whole in a code block;
``chat_label``       labels of buttons that a chat's copy left in the text;
``chat_footer``      closing lines of a chat's interface.

The report's own words are never rewritten, only whole stretches are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .addressed import hidden_elements
from .data import Cut, Report

Stretch = tuple[int, int, str]

_CONTROLS = "".join(map(chr, (*range(9), *range(14, 27), *range(28, 32), 127)))
_CONTROL = re.compile(f"[{_CONTROLS}]+")
_ESCAPE = re.compile(
    r"""\x1b(?:\[[0-?]*+[\ -/]*+[@-~]          # control sequence: colour, cursor
      |[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)  # a string with its end: title, link
      |[()*+][0AB12]|\\)?                    # a character set; the end of a string
    |\x9b[0-9;]++[A-Za-z]                    # the control sequence in one character""",
    re.VERBOSE,
)
_FRONT = re.compile(
    r"---[ \t]*\r?\n(?:[\w-]+[ \t]*:[^\n]*\n|[ \t]+[^\n]*\n|- [^\n]*\n|[ \t]*\r?\n){1,60}---[ \t]*(?:\r?\n)+"
)
_LOG_START = re.compile(r"\s*(?:Query|Task|Question) ID\s*:\s*(?P<id>[^\n]{1,80})\n")
_LOG_QUESTION = re.compile(r"\n(?:QUESTION|QUERY|PROMPT|TASK)\s*:\s*\n(?P<prompt>.*?)\n\s*={8,}", re.DOTALL)
_LOG_ANSWER = re.compile(r"\n(?:ANSWER|REPORT|FINAL REPORT|FINAL ANSWER|RESPONSE)\s*:[ \t]*\n+")
_GEMINI_START = re.compile(r"\s*Conversation with Gemini\b")
_GEMINI_END = re.compile(
    r"\bContents\s+Export\s+(?:Create\s+|Share\s+)*|\bExport to Docs\s+(?:Copy\s+)?"
    r"|Gemini can make mistakes, so double-check it\s+"
)
_GEMINI_DONE = re.compile(r"I've completed your research")
_GEMINI_LABEL = re.compile(r"\bExport to Sheets\b\s?")
_CHATGPT = re.compile(
    r"\s*(?:You said|User)\s*:?[ \t]*\n.*?\n(?:ChatGPT said|ChatGPT"
    r"|Assistant)\s*:?[ \t]*\n+(?:(?:Research completed|Thought for|Reasoned for|Searched|Worked for"
    r"|Analyzed)[^\n]{0,120}\n+)*",
    re.DOTALL,
)
_SPEAKER = re.compile(
    r"^[ \t]*(?:(?P<user>You said|User)|ChatGPT said|ChatGPT|Assistant)[ \t]*:[ \t]*\n+", re.MULTILINE
)
_PANEL = re.compile(r"\s*(?:Research completed in|Thought for|Reasoned for|Worked for)[^\n]{0,120}\n+")
_THINK = re.compile(
    r"<(think|thinking|reasoning|scratchpad|analysis|tool_call|tool_response|function_calls"
    r"|search_quality_reflection)>",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"""\s*(?:(?:Sure|Certainly|Of\ course|Absolutely|Great|Okay|OK|Understood)\b[!,.]?\s*)?
    (?:(?:Here(?:'s|’s|\ is|\ are)|Below\ is|The\ following\ is
        |I(?:'ve|’ve|\ have)\ (?:completed|prepared|compiled|written|finished|put\ together))\b[^\n]{0,300}[:.!]
      |(?:Sure|Certainly|Of\ course|Absolutely)\b[!,.][^\n]{0,200}
      |(?:好的|当然|没问题)[，,。！!][^\n]{0,200}
      |(?:以下是|下面是|这是)[^\n]{0,120}(?:报告|研究|回答|内容)[^\n]{0,40}[：:。]
    )[ \t]*\r?\n(?:[ \t]*\r?\n)*""",
    re.VERBOSE,
)
_WRAPPER = re.compile(r"\s*(`{3,}|~{3,})[ \t]*(?:markdown|md|text|html)?[ \t]*\r?\n")
_FOOTER = re.compile(
    r"\n\s*(?:Sources and related content|ChatGPT can make mistakes[^\n]*"
    r"|Gemini can make mistakes[^\n]*|Perplexity can make mistakes[^\n]*"
    r"|Claude can make mistakes[^\n]*|Share\s*\n\s*Export\s*\n\s*Rewrite|Ask follow-up"
    r"|Ask anything)\s*\Z"
)
_PARAGRAPH = re.compile(r"^(?=[^\s#|>\-*`$])[^\n]*(?:\n(?![ \t\r]*(?:\n|\Z))[^\n]*)*", re.MULTILINE)
_NOTE_START = re.compile(
    r"""(?:(?:Now|Next|First|Then|Finally|OK|Okay|Great|Good|Perfect|Alright|Let's\ see)[,.!]?\s+)?
    (?:let\ me|I(?:'ll|’ll|\ will|\ should|\ need|\ still\ need
        |'d\ like|’d\ like|\ would\ like|'m\ going|’m\ going|\ am\ going|\ want|\ have\ to|\ must|\ can\ now|\ now)\b
      |let's|to\ (?:provide|give|address|answer)\b[^.:]{0,200},\s+I(?:'ll|’ll|\ will)\b
      |based\ on\ [^.:]{0,80},\s+I(?:'ll|’ll|\ will)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_NOTE_VERB = re.compile(
    r"\b(?:search|research|look|find|gather|explor|investigat|check|retriev|brows|fetch|read|examin"
    r"|conduct|query|start by|begin by|need (?:more|some|additional|to)|provide a|do some|dig|verify"
    r"|collect|get)\w*",
    re.IGNORECASE,
)
_NOTE_FILL = re.compile(
    r"(?:This is an important (?:topic|question)\b[^.]{0,80}|(?:Perfect|Great|Good)[!.]?|(?:Let me"
    r"|I'll) (?:start|begin|continue)\b[^.:]{0,200})[.:!]?",
    re.IGNORECASE,
)
_NOTE_CJK = re.compile(
    r"(?:现在|接下来|首先|好的|下面|然后)?[，,]?\s*(?:我将|我会|我来|我需要|让我|我们来|我先|我要|我正在)"
)
_NOTE_CJK_VERB = re.compile(r"搜索|查找|搜寻|获取|查询|检索|收集|调研|查看|了解|撰写|研究|寻找|搜集")
_SENTENCE = re.compile(r"[^.!?。！？:：]*(?:[.!?](?=\s|\Z)|[。！？]|[:：](?=\s|\Z)|\Z|[.!?:：])")
LONGEST_NOTE = 500
"""Characters; a longer paragraph is no tool note."""


def clean_text(text: str) -> tuple[str, tuple[Cut, ...]]:
    """The text without interface debris, and what was cut. Linear; ``uncut`` puts it back exactly."""
    return _apply(text, _stretches(text))


def uncut(report: Report) -> str:
    """The report's text as it was given, every cut put back."""
    return restore(report.text, report.cuts)


def restore(text: str, cuts: Iterable[Cut]) -> str:
    """Put cuts back into a cleaned text."""
    pieces: list[str] = []
    at = 0
    for cut in cuts:
        pieces += (text[at : cut.at], cut.text)
        at = cut.at
    pieces.append(text[at:])
    return "".join(pieces)


def given_offset(report: Report, at: int, *, end: bool = False) -> int:
    """The offset in the text as given that belongs to an offset in ``Report.text``.

    At a cut, a start is moved behind what was cut, and an ``end`` stays before it.
    """
    moved = at
    for cut in report.cuts:
        if cut.at < at or (cut.at == at and not end):
            moved += len(cut.text)
        else:
            break
    return moved


def log_header(text: str) -> tuple[str | None, str | None]:
    """Query id and question in the header of an agent's log; None where it has none."""
    start = _LOG_START.match(text[:400])
    if start is None:
        return None, None
    question = _LOG_QUESTION.search(text[:20_000])
    return start["id"].strip(), question["prompt"].strip() if question else None


def _apply(text: str, stretches: list[Stretch]) -> tuple[str, tuple[Cut, ...]]:
    pieces: list[str] = []
    cuts: list[Cut] = []
    at = length = 0
    for start, end, rule in stretches:
        if start < at or end <= start:
            continue
        pieces.append(text[at:start])
        length += start - at
        cuts.append(Cut(at=length, text=text[start:end], rule=rule))
        at = end
    pieces.append(text[at:])
    return "".join(pieces), tuple(cuts)


def _stretches(text: str) -> list[Stretch]:
    found: list[Stretch] = []
    at = 0
    if text.startswith("\ufeff"):
        found.append((0, 1, "byte_order_mark"))
        at = 1
    if any(sign in text for sign in _CONTROLS):
        found += [(m.start(), m.end(), "control") for m in _CONTROL.finditer(text, at)]
    if "\x1b" in text or "\x9b" in text:
        found += [(m.start(), m.end(), "escape") for m in _ESCAPE.finditer(text, at)]
    if "style" in text or "hidden" in text:
        found += [(start, end, "hidden_text") for start, end in hidden_elements(text)]
    head = list(_head(text, at))
    found += head
    at = max([at, *(end for _, end, rule in head if rule not in ("chat_label", "chat_footer"))])
    found += _thinking(text, at)
    found += _wrapper(text, at)
    found += _notes(text, at)
    if match := _FOOTER.search(text, max(at, len(text) - 400)):
        found.append((match.start(), match.end(), "chat_footer"))
    return _disjoint(found)


def _disjoint(found: list[Stretch]) -> list[Stretch]:
    out: list[Stretch] = []
    for start, end, rule in sorted(found, key=lambda s: (s[0], -s[1])):
        if out and start < out[-1][1]:
            if end > out[-1][1]:
                out.append((out[-1][1], end, rule))
        else:
            out.append((start, end, rule))
    return out


def _head(text: str, at: int) -> Iterator[Stretch]:
    """What stands before the report begins."""
    if match := _FRONT.match(text, at):
        yield at, match.end(), "front_matter"
        at = match.end()
    if _LOG_START.match(text, at) and (match := _LOG_ANSWER.search(text, at, at + 100_000)):
        yield at, match.end(), "log_header"
        return
    if _GEMINI_START.match(text, at) and (end := _gemini_end(text, at)):
        yield at, end, "chat_header"
        yield from ((m.start(), m.end(), "chat_label") for m in _GEMINI_LABEL.finditer(text, end))
        return
    if match := _CHATGPT.match(text, at, at + 50_000):
        start, end = _longest_turn(text, match.end())
        start = panel.end() if (panel := _PANEL.match(text, start)) else start
        yield at, start, "chat_header"
        if end < len(text):
            yield end, len(text), "chat_footer"
        at = start
    elif match := _PANEL.match(text, at):
        yield at, match.end(), "chat_header"
        at = match.end()
    if (match := _PREAMBLE.match(text, at, at + 2000)) and match.end() < len(text.rstrip()):
        yield at, match.end(), "preamble"


def _longest_turn(text: str, at: int) -> tuple[int, int]:
    """Of a conversation whose first answer begins at ``at``: where the longest answer begins and ends."""
    starts: list[int] = [at]
    ends: list[int] = []
    for match in _SPEAKER.finditer(text, at):
        if match["user"] and len(ends) < len(starts):
            ends.append(match.start())
        elif not match["user"] and len(ends) == len(starts):
            starts.append(match.end())
    ends += [len(text)] * (len(starts) - len(ends))
    return max(zip(starts, ends, strict=True), key=lambda turn: turn[1] - turn[0])


def _gemini_end(text: str, at: int) -> int | None:
    done = _GEMINI_DONE.search(text, at, at + 60_000)
    start = done.end() if done else at
    ends = [m.end() for m in _GEMINI_END.finditer(text, start, start + 3000)]
    return ends[-1] if ends else None


def _thinking(text: str, at: int) -> Iterator[Stretch]:
    lowered: str | None = None
    while match := _THINK.search(text, at):
        lowered = lowered or text.lower()
        close = f"</{match[1].lower()}>"
        end = lowered.find(close, match.end())
        if end < 0:
            return
        end += len(close)
        while end < len(text) and text[end] in " \t\r\n":
            end += 1
        yield match.start(), end, "thinking"
        at = end


def _wrapper(text: str, at: int) -> Iterator[Stretch]:
    """Fence lines around the whole report, when no other fence is open or closed between."""
    match = _WRAPPER.match(text, at)
    if match is None:
        return
    stripped = text.rstrip()
    if stripped.endswith("\n" + match[1]) and not text.startswith(match[1][0], match.end()):
        inner = text[match.end() : len(stripped) - len(match[1])]
        if re.search(r"(?m)^#{1,6}\s", inner) and inner.count("\n" + match[1]) % 2 == 0:
            yield at, match.end(), "wrapper"
            yield len(stripped) - len(match[1]), len(text), "wrapper"


def _notes(text: str, at: int) -> Iterator[Stretch]:
    """Paragraphs of nothing but announcements, before the first paragraph that cites, and up to the next block."""
    for match in _PARAGRAPH.finditer(text, at):
        start, end = match.span()
        if end - start > LONGEST_NOTE:
            continue
        if is_note(match.group()):
            while end < len(text) and text[end] in " \t\r\n":
                end += 1
            yield start, end, "tool_note"


def is_note(paragraph: str) -> bool:
    """Whether a paragraph only says what its writer is about to search, read or write."""
    cjk = _NOTE_CJK.match(paragraph)
    if not cjk and not _NOTE_START.match(paragraph):
        return False
    if re.search(r"\[\^?\d|https?://|[|]|\d{3,}\s?%", paragraph):
        return False
    start, verb = (_NOTE_CJK, _NOTE_CJK_VERB) if cjk else (_NOTE_START, _NOTE_VERB)
    sentences = [s.strip() for s in _SENTENCE.findall(paragraph) if s.strip()]
    return all((start.match(s) and verb.search(s)) or _NOTE_FILL.fullmatch(s) for s in sentences)
