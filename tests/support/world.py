"""A small world for whole evaluations: a query, two reports, a corpus, and a scripted judge that reads like a person.

Everything in it is made up and small enough to check by hand. ``expected`` in :data:`SCORES` was worked out on paper
(see :mod:`tests.whole`); the judge answers by what stands in its prompt, never by what we hope for.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from servers.chat import Body, ScriptedChat, last_user, prompt

QUERY = "Is the Lindow barrage finished, how much power does it give and what did it cost?"

CITED = """\
# The Lindow barrage

The Lindow barrage was completed in 2021 [1]. The Lindow barrage has 14 turbines [1]. The Lindow barrage produces 320 \
gigawatt hours a year [2]. The Lindow barrage cost 1.9 billion pounds [3]. Fewer than 2 percent of salmon die in the \
turbines of the Lindow barrage.

## Sources

[1] https://www.lindow-energy.com/barrage
[2] https://tidal-authority.gov.uk/register
[3] https://coastal-post.co.uk/lost-article
"""

UNCITED = """\
# Lindow in short

The Lindow barrage was completed in 2021. The Lindow barrage has 12 turbines.
"""

PAGES = {
    "energy.md": (
        "https://www.lindow-energy.com/barrage",
        "The Lindow barrage",
        "2024-02-01",
        "The Lindow barrage was completed in 2021. Its powerhouse holds 12 turbines of the bulb type. "
        "The Lindow barrage belongs to Lindow Energy.",
    ),
    "register.md": (
        "https://tidal-authority.gov.uk/register",
        "Register of tidal plants",
        "2025-03-01",
        "The register lists every tidal plant. The Lindow barrage was completed in 2021 after six years of building. "
        "The Lindow barrage has 12 turbines. The Lindow barrage produces 320 gigawatt hours a year.",
    ),
    "review.md": (
        "https://power-review.org/lindow",
        "Lindow after four years",
        "2025-06-01",
        "The Lindow barrage cost 1.9 billion pounds, a fifth more than planned. "
        "On average the Lindow barrage produces 320 gigawatt hours a year.",
    ),
    "harbour.md": (
        "https://harbour-times.co.uk/fish",
        "Fish in the estuary",
        "2023-05-01",
        "Salmon swim up the estuary in autumn. Nobody has counted how they pass the Lindow barrage.",
    ),
}
AS_OF = "2025-12-31"

PATTERNS = (
    r"completed in (\d{4})",
    r"(\d+) turbines",
    r"(\d+) gigawatt hours a year",
    r"cost ([\d.]+) billion",
    r"than (\d+) percent of salmon die",
)
"""What a claim or a sentence can state; two statements of one kind agree when the number is the same."""

SCORES = {
    ("cited", "wq"): 100 * 19 / 24,  # 5 4 4 3 5 4 on the scale 1–5
    ("cited", "kic"): 75.0,  # yes, no, yes, yes
    ("cited", "rq"): 82.5,  # (8 + 6) · 5 = 70 and (10 + 9) · 5 = 95
    ("cited", "factuality"): 75.0,  # 3 supported, 1 contradicted, 1 undecided
    ("cited", "ci"): 2 * 80 * (200 / 3) / (80 + 200 / 3),  # CA 4 of 5; CF: supported, contradicted, supported, not read
    ("cited", "da"): 100 * (0.5 + 1.0 + 0.7) / 3,
    ("uncited", "wq"): 100 * 19 / 24,
    ("uncited", "kic"): 50.0,  # yes, yes, no, no
    ("uncited", "rq"): 82.5,
    ("uncited", "factuality"): 100.0,
    ("uncited", "ci"): 0.0,
    ("uncited", "da"): None,
}

FACTS = (
    (
        "The Lindow barrage was completed in 2021",
        "Does the report state that the Lindow barrage was completed in 2021?",
    ),
    ("The Lindow barrage has 12 turbines", "Does the report state that the Lindow barrage has 12 turbines?"),
    (
        "The Lindow barrage produces 320 gigawatt hours a year",
        "Does the report state that the Lindow barrage produces 320 gigawatt hours a year?",
    ),
    (
        "The Lindow barrage cost 1.9 billion pounds",
        "Does the report state that the Lindow barrage cost 1.9 billion pounds?",
    ),
)

REASONING = (
    ("How does the report weigh the cost of the barrage against its power?", "Lindow barrage cost", (8, 6)),
    ("Why should a reader believe the figures on the turbines?", "Lindow barrage turbines", (10, 9)),
)

DOMAINS = {
    "lindow-energy.com": ("company", 5),
    "tidal-authority.gov.uk": ("government", 10),
    "coastal-post.co.uk": ("news", 7),
}


def write_world(folder: Path) -> None:
    """``cited.md``, ``uncited.md`` and ``corpus/`` in ``folder``."""
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    (folder / "cited.md").write_text(CITED)
    (folder / "uncited.md").write_text(UNCITED)
    for name, (url, title, published, text) in PAGES.items():
        head = f"---\nurl: {url}\ntitle: {title}\npublished: {published}\nsite: {url.split('/')[2]}\n---\n\n"
        (folder / "corpus" / name).write_text(f"{head}{text}\n")


def judge_of_world(**options: Any) -> ScriptedChat:
    """A server that answers every kind of prompt of an evaluation."""
    chat = ScriptedChat(**options)
    chat.on(is_claims, answer_claims)
    chat.on(lambda body: "Score the writing of the report" in last_user(body), WRITING)
    chat.on(lambda body: "Does the report itself state each of these facts?" in last_user(body), answer_facts)
    chat.on(lambda body: "Is the claim supported by the evidence" in last_user(body), answer_passage)
    chat.on(lambda body: "Claims that cite this page:" in last_user(body), answer_page)
    chat.on(lambda body: "Its kind and its score?" in last_user(body), answer_domain)
    chat.on(lambda body: "prepare the evaluation of research reports" in prompt(body), answer_creator)
    chat.on(lambda body: "check the reasoning of a research report" in prompt(body), answer_verifier)
    return chat


WRITING = {
    "organisation": 5,
    "clarity": 4,
    "coherence": 4,
    "concision": 3,
    "format": 5,
    "language": 4,
    "faults": [{"criterion": "concision", "sentence": 2}],
}


def is_claims(body: Body) -> bool:
    """A prompt that asks for claims."""
    return "A claim is something that could be checked" in last_user(body)


def answer_claims(body: Body) -> dict[str, Any]:
    """Every sentence that states something, as it stands."""
    lines = numbered_lines(last_user(body))
    return {
        "claims": [
            {"sentence": number, "importance": 4, "changes": False, "text": text}
            for number, text in lines.items()
            if any(re.search(pattern, text) for pattern in PATTERNS)
        ]
    }


def answer_facts(body: Body) -> dict[str, Any]:
    """Yes where a sentence of the report states the very fact."""
    head, _, questions = last_user(body).partition("Does the report itself state each of these facts?")
    lines = numbered_lines(head)
    answers = []
    for id, question in re.findall(r"^(k\d+): (.*)$", questions, re.MULTILINE):
        found = [number for number, text in lines.items() if agrees(question, text)]
        answers.append({"id": id, "answer": "yes" if found else "no", "sentences": found})
    return {"answers": answers}


def answer_passage(body: Body) -> dict[str, Any]:
    """The verdict on one claim by each passage on its own."""
    head, _, question = last_user(body).partition("\n\nClaim: ")
    claim = question.splitlines()[0]
    return {"answers": [{"id": id, **verdict(claim, lines)} for id, lines in passages(head).items()]}


def passages(text: str) -> dict[str, dict[int, str]]:
    """Numbered sentences of each passage, as its marks bound them."""
    found = re.findall(r"^<evidence (P\d+) (\w{16})>\n(.*?)\n</evidence \1 \2>$", text, re.DOTALL | re.MULTILINE)
    return {id: numbered_lines(inside) for id, _, inside in found}


def answer_page(body: Body) -> dict[str, Any]:
    """The verdicts on all claims that cite a page."""
    head, _, question = last_user(body).partition("Claims that cite this page:\n")
    claims = re.findall(r"^(c\d+): (.*)$", question, re.MULTILINE)
    return {"answers": [{"id": id, **verdict(claim, numbered_lines(head))} for id, claim in claims]}


def answer_domain(body: Body) -> dict[str, Any]:
    """Kind and score of a domain."""
    found = re.search(r"Domain: (\S+)", last_user(body))
    assert found
    kind, score = DOMAINS[found[1]]
    return {"kind": kind, "score": score}


def answer_creator(body: Body) -> str:
    """The protocol creator as a CodeAgent: one step that reads, one that answers."""
    if not any(message["role"] == "assistant" for message in body["messages"]):
        urls = [PAGES[name][0] for name in ("register.md", "review.md")]
        reads = "\n".join(f"print(read_page({url!r}))" for url in urls)
        return f"I search and read.\n<code>\nprint(web_search('Lindow barrage'))\n{reads}\n</code>"
    keys = [
        {
            "fact": fact,
            "question": question,
            "rationale": "asked for",
            "time_sensitive": False,
            "sources": [source_of(fact)],
        }
        for fact, question in FACTS
    ]
    plan = {"extract": "its figures", "where": "web", "cross_check": "compare them", "against": "another figure"}
    reasons = [
        {"question": question, "rationale": "asked for", "plan": plan | {"lookup": lookup}}
        for question, lookup, _ in REASONING
    ]
    return f"I answer.\n<code>\nfinal_answer({ {'key_questions': keys, 'reasoning_questions': reasons}!r})\n</code>"


def answer_verifier(body: Body) -> str:
    """The plan verifier as a CodeAgent: reads the register, then scores."""
    url = PAGES["register.md"][0]
    text = prompt(body)
    _, lookup, (coherence, validity) = next(entry for entry in REASONING if entry[0] in text)
    if not any(message["role"] == "assistant" for message in body["messages"]):
        code = f"print(report_find('barrage'))\nprint(web_search({lookup!r}))\nprint(read_page({url!r}))"
        return f"I look.\n<code>\n{code}\n</code>"
    flaw = {"kind": "unsupported claim", "sentences": [3], "note": "no reason is given"}
    answer = {
        "coherence": coherence,
        "validity": validity,
        "flaws": [flaw] if coherence == 8 else [],
        "evidence": [[url, 3]],
        "reason": "The register says so.",
    }
    return f"I answer.\n<code>\nfinal_answer({answer!r})\n</code>"


def source_of(fact: str) -> list[Any]:
    """Address and number of the sentence that states a fact."""
    for name in ("register.md", "review.md"):
        url, _, _, text = PAGES[name]
        for number, sentence in enumerate(re.split(r"(?<=\.) ", text), 1):
            if agrees(fact, sentence):
                return [url, number]
    raise AssertionError(fact)


def verdict(claim: str, sentences: dict[int, str]) -> dict[str, Any]:
    """Supported by the same statement, contradicted by another number, else not enough evidence."""
    for word, same in (("supported", True), ("contradicted", False)):
        found = [n for n, text in sentences.items() if states(claim, text) and agrees(claim, text) is same]
        if found:
            return {"verdict": word, "sentences": found}
    return {"verdict": "not_enough_evidence", "sentences": []}


def states(claim: str, text: str) -> bool:
    """Both make a statement of the same kind."""
    return any(re.search(p, claim) and re.search(p, text) for p in PATTERNS)


def agrees(claim: str, text: str) -> bool:
    """Both make the same statement."""
    pairs = [(re.search(p, claim), re.search(p, text)) for p in PATTERNS]
    return any(one and other and one[1] == other[1] for one, other in pairs)


def numbered_lines(text: str) -> dict[int, str]:
    """``[3] text`` lines."""
    return {int(number): line for number, line in re.findall(r"^\[(\d+)\] (.*)$", text, re.MULTILINE)}
