# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Interface debris is cut, nothing else is, and every cut can be put back."""

import pytest
from dream_eval.reports import read_report, uncut
from dream_eval.reports.cleaner import clean_text, given_offset, is_note, log_header

BODY = "# Report\n\nThe market grew by 5% in 2024 [1]. It is large.\n\n## References\n\n[1] One https://a.org/1\n"
NOTES = "I'll research the market for you.\n\nLet me search for market data:\n\nNow I'll look for prices.\n\n"
GEMINI = (
    "Conversation with Gemini   How did it grow?  Here's a research plan for that topic.\n  Growth  Research Websites (1) Find it.\n"
    "(2) Read it. More Analyze Results Create Report Ready in a few mins  Edit plan   Start research   I've completed your research. "
    "Feel free to ask me follow-up questions. Growth Completed Aug 19, 10:24 PM Deep Research  Gemini can make mistakes, so double-check it  "
    "Growth Contents Export Create "
)
LOG = (
    "Query ID: 51\n====================\n\nQUESTION:\nHow did it grow?\nAnd why?\n\n====================\n\nRESEARCH TASKS (1 total):\n  #1: Find it.\n\n"
    "====================\n\nANSWER:\n"
)  # fmt: skip

CUT = [
    ("tool_note", NOTES + BODY, BODY),
    ("tool_note", "# Report\n\n" + NOTES + BODY, "# Report\n\n" + BODY),
    ("tool_note", "我将为您搜索相关数据。让我获取最新信息。\n\n" + BODY, BODY),
    ("chat_header", GEMINI + BODY, BODY),
    ("log_header", LOG + BODY, BODY),
    ("thinking", "<think>\nI should find it [3].\n</think>\n\n" + BODY, BODY),
    ("thinking", BODY + "<thinking>done</thinking>\n", BODY),
    ("preamble", "Here is the report you asked for:\n\n" + BODY, BODY),
    ("preamble", "Sure! Here's the full report.\n\n" + BODY, BODY),
    ("preamble", "好的，以下是报告：\n\n" + BODY, BODY),
    ("wrapper", "```markdown\n" + BODY + "```", BODY),
    ("front_matter", "---\ntitle: A report\ndate: 2024-01-01\n---\n\n" + BODY, BODY),
    ("byte_order_mark", "\ufeff" + BODY, BODY),
    ("escape", BODY.replace("grew", "\x1b[1;31mgrew\x1b[0m"), BODY),
    (
        "escape",
        "\x1b]0;a title\x07" + BODY.replace("It is", "\x1b(B\x1b]8;;https://x.org\x1b\\It\x1b]8;;\x1b\\ is"),
        BODY,
    ),
    ("escape", BODY.replace("grew", "\x9b31mgr\x1bew"), BODY),
    ("control", "\x00" + BODY.replace("grew", "gr\x00ew"), BODY),
    (
        "chat_header",
        "You said:\nHow did it grow?\nChatGPT said:\nResearch completed in 7m · 23 sources\n\n" + BODY,
        BODY,
    ),
    (
        "chat_header",
        "User:\n\nHow?\n\nChatGPT:\n\nSince when?\n\nUser:\n\nSince 2020.\n\nChatGPT:\n\nReasoned for 8s\n\n" + BODY,
        BODY,
    ),
    ("chat_footer", BODY + "\n\nChatGPT can make mistakes. Check important info.\n", BODY.rstrip("\n") + "\n"),
]


@pytest.mark.parametrize(("rule", "text", "left"), CUT, ids=[f"{r} {i}" for i, (r, _, _) in enumerate(CUT)])
def test_cuts(rule, text, left):
    report = read_report(text, id="r")
    assert report.text.strip() == left.strip()
    assert {cut.rule for cut in report.cuts} == {rule}
    assert uncut(report) == text


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        "# Report\n\nLet me be clear: the market grew by 5% [1].",
        "# Report\n\nI will argue that the market grew. The data of 2024 show it.",
        "# Report\n\nIn this report I look at prices.",
        "# Report\n\nTo find prices, firms search the web.",
        "```python\nx = 1\n```\n\n# Report\n\nText.",
        "---\n\n# Report\n\nText.\n\n---\n",
        "Query ID is a field. It is used.\n\nANSWER:\nno",
        "Conversation with Gemini is a film. It is good.",
        "# Report\n\n<think> is a tag without an end.",
        "Here is the thing: it grew.",
        "好的公司增长了。\n\n正文。",
    ],
)
def test_what_is_kept(text):
    assert clean_text(text) == (text, ())


def test_not_cleaned_when_not_asked():
    assert read_report(NOTES + BODY, id="r", clean=False).text == NOTES + BODY


def test_offsets_in_the_text_as_given():
    text = "\ufeff" + NOTES + BODY.replace("large", "la\x00rge") + "<think>x</think>"
    report = read_report(text, id="r")
    mark = report.marks[0]
    start, end = given_offset(report, mark.span.start), given_offset(report, mark.span.end, end=True)
    assert text[start:end] == "[1]"
    for sentence in report.sentences:
        start, end = given_offset(report, sentence.span.start), given_offset(report, sentence.span.end, end=True)
        assert text[start:end].replace("\x00", "") == report.text[sentence.span.start : sentence.span.end]


def test_the_header_of_a_log():
    assert log_header(LOG + BODY) == ("51", "How did it grow?\nAnd why?")
    assert log_header(BODY) == (None, None)


@pytest.mark.parametrize(
    ("paragraph", "note"),
    [
        ("Let me search for more specific information about it:", True),
        ("Now I'll look for information about governance.", True),
        ("I need more specific information about the solution methods:", True),
        ("Based on the gathered information, I'll now provide a comprehensive report.", True),
        ("让我搜索更具体的中产阶级财务数据：", True),
        ("Let me search for it [1].", False),
        ("I'll argue it grew. It grew by 5%.", False),
        ("The market grew.", False),
        ("我国经济增长。", False),
        ("I will show that prices rose.", False),
    ],
)
def test_notes(paragraph, note):
    assert is_note(paragraph) is note


def test_the_longest_answer_of_a_conversation_is_the_report() -> None:
    text = f"User:\nHow?\nChatGPT:\nSince when?\nUser:\nEver.\nChatGPT:\n{BODY}\nUser:\nThanks.\nChatGPT:\nWelcome.\n"
    report = read_report(text, id="r")
    assert report.text.strip() == BODY.strip()
    assert [cut.rule for cut in report.cuts] == ["chat_header", "chat_footer"]
    assert uncut(report) == text
