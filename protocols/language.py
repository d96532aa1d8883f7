"""Reading a question's form without a model: yes/no, compound, time-bound. English and Chinese, cautious elsewhere."""

from __future__ import annotations

import re

_AUXILIARY = re.compile(
    r"(?:do|does|did|is|are|was|were|am|has|have|had|can|could|will|would|shall|should|must|may|might)(?:n['’]?t)?\b|can['’]t|won['’]t",
    re.IGNORECASE,
)
_OPEN_WORD = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|explain|describe|list|name|discuss)\b", re.IGNORECASE
)
_OTHER_YES_NO = re.compile(
    # German, French, Spanish and Portuguese openings that ask for yes or no.
    r"^(?:ist|sind|war|waren|hat|haben|wird|werden|wurde|wurden|kann|können|gibt es|nennt|erwähnt|"
    r"est-ce|est-il|est-elle|y a-t-il|a-t-il|a-t-elle|sont-ils|"
    r"¿(?:es|son|ha|han|hay|está|están|fue|menciona|indica)|(?:é|são|há|existe|menciona)) ?\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\b(?:the|of|in|to|and|for|that|report)\b", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_CHINESE_YES_NO = re.compile(r"是否|是不是|有没有|有無|能否|可否|会不会|吗|嗎|有否|(\w)不\1")
_JAPANESE_YES_NO = re.compile(r"(?:か|かどうか)[。?？]?\s*$")
_LEAD = re.compile(r"^[^,，?？]{1,80}[,，]\s*")

_COMPOUND = (
    re.compile(r"[?？;；]"),  # inside: the closing mark is cut off before
    re.compile(r"\bboth\b.+\band\b", re.IGNORECASE),
    re.compile(
        r"\b(?:and|or|as well as)\s+(?:also\s+|if\s+|whether\b|that\b|(?:what|which|who|when|where|why|how)\b"
        r"|(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should)\b)",
        re.IGNORECASE,
    ),
    re.compile(r"(?:并且|而且|以及|同时)(?:也|还)?(?:是否|能否|会不会|有没有|说明|指出|提到)"),
    re.compile(r"是否.*是否"),
)

_NOW = re.compile(
    r"\b(?:latest|newest|current(?:ly)?|recent(?:ly)?|today|nowadays|up[- ]to[- ]date|as of|so far"
    r"|this (?:year|month|quarter)|state of the art|status quo|ongoing|outlook|forecast|trends?)\b"
    r"|最新|目前|当前|當前|现在|近期|近年|今年|本年|截至|现状|趋势",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def yes_no(question: str) -> bool | None:
    """Whether the question asks for yes or no; None where its language is not one this can tell."""
    text = question.strip()
    if not text:
        return False
    if _KANA.search(text):
        return bool(_JAPANESE_YES_NO.search(text))
    if _HAN.search(text):
        return bool(_CHINESE_YES_NO.search(text))
    if _opens_with(text, _AUXILIARY) or _OTHER_YES_NO.match(text):
        return text.endswith(("?", "？"))
    if _opens_with(text, _OPEN_WORD) or _ENGLISH.search(text):
        return False
    return None


def _opens_with(text: str, word: re.Pattern[str]) -> bool:
    """The first word, or the first one after a leading phrase ("As of May 2026, is …"), is such a word."""
    return bool(word.match(text) or word.match(_LEAD.sub("", text, count=1)))


def compound(question: str) -> bool:
    """Whether one question seems to ask two things, so that one answer cannot be right for both."""
    body = question.strip().rstrip("?？。. ")
    return any(pattern.search(body) for pattern in _COMPOUND)


def time_bound(prompt: str, year: int) -> bool:
    """Whether a task asks for the state of things now: it says so, or names this year, the last one or a later one."""
    return bool(_NOW.search(prompt)) or any(int(found[0]) >= year - 1 for found in _YEAR.finditer(prompt))
