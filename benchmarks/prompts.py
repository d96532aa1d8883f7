"""What a run asked: the completions of its ledger by what asked them, their tokens, what a prefix cache can serve."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Call:
    """A recorded completion."""

    part: str
    """The metric that asked first, ``protocol`` or ``claims``."""
    prompt: str
    """What was sent, in order, schema last."""
    reply: str


def completions(ledger: Path) -> list[Call]:
    """The completions of a ledger that holds one run, as they were answered."""
    from dream_eval.ledger.store import Store

    store = Store(ledger, read_only=True)
    rows = store.rows(
        "SELECT c.id, (SELECT scope FROM uses u WHERE u.call = c.id ORDER BY u.id LIMIT 1) FROM calls c"
        " WHERE c.kind = 'completion' ORDER BY c.at - c.elapsed_s"
    )
    found = []
    for id, scope in rows:
        request: Any
        request, answer = store.content(id)
        reply = answer["text"] if isinstance(answer, dict) else ""
        sent = "\n".join(f"{message['role']}\n{message['content']}" for message in request["messages"])
        schema = json.dumps(request["schema"]) if request["schema"] else ""
        found.append(Call(scope.partition(" · ")[0].rpartition("/")[2], f"{sent}\n{schema}", str(reply)))
    store.close()
    return found


def counter() -> tuple[Callable[[str], list[int]], str]:
    """How a text becomes tokens, and its name; without the tokeniser four characters are one."""
    try:
        import bpe_openai
    except ImportError:
        return lambda text: [hash(text[i : i + 4]) for i in range(0, len(text), 4)], "4 characters each"
    encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: list(encoding.encode(text)), "o200k_base"


def cached_share(prompts: Sequence[list[int]], *, block: int, least: int) -> float:
    """Share of prompt tokens that stand, in whole blocks from the beginning, in a prompt that was sent before."""
    seen: set[int] = set()
    served = total = 0
    for tokens in prompts:
        total += len(tokens)
        key, known, run = 0, 0, True
        for end in range(block, len(tokens) + 1, block):
            key = hash((key, tuple(tokens[end - block : end])))
            run = run and key in seen
            known = end if run else known
            seen.add(key)
        served += known if known >= least else 0
    return served / total if total else 0.0


def shares(ledger: Path, reports: int) -> Iterator[str]:
    """Lines of the table of calls and tokens."""
    encode, name = counter()
    calls = completions(ledger)
    sent = [encode(call.prompt) for call in calls]
    by_part: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for call, prompt in zip(calls, sent, strict=True):
        by_part[call.part][0] += 1
        by_part[call.part][1] += len(prompt)
        by_part[call.part][2] += len(encode(call.reply))
    for part, (number, total, new) in sorted(by_part.items()):
        a_call = f"a call {total / number:,.0f}, and {new / number:,.0f} of its reply"
        yield f"{part:12} {number / reports:6.1f} calls {total / reports:9,.0f} prompt tokens a report ({a_call})"
    total = sum(map(len, sent))
    both = sum(by_part[part][1] for part in ("factuality", "ci"))
    yield f"{'all':12} {len(calls) / reports:6.1f} calls {total / reports:9,.0f} prompt tokens a report ({name})"
    yield f"factuality and citations together: {both / reports:,.0f} (claim lists, which all share, apart)"
    hosted, own = cached_share(sent, block=128, least=1024), cached_share(sent, block=16, least=16)
    yield f"a prefix cache can serve {hosted:.0%} (from 1,024 tokens, steps of 128) or {own:.0%} (steps of 16)"
