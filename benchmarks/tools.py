"""How fast the tools are: pages, passages, a corpus. No network; run it on a quiet machine.

python benchmarks/tools.py
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from dream_eval.core import PageState
from dream_eval.tools import Corpus, Document, Page, PassageIndex, ToolLimits, is_copy
from dream_eval.tools.content import Source
from dream_eval.tools.corpus import fill
from dream_eval.tools.parsing import Parsers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

DRAW = random.Random(11)
WORDS = ["".join(DRAW.choices("aabcdeefghiijklmnooprstuvwxyz", k=DRAW.randint(3, 9))) for _ in range(20_000)]
WEIGHTS = list(accumulate(1 / (rank + 10) for rank in range(len(WORDS))))


def sentence() -> str:
    """A sentence of about 17 words, frequent words more often."""
    return " ".join(DRAW.choices(WORDS, cum_weights=WEIGHTS, k=DRAW.randint(12, 22))).capitalize() + "."


def text(sentences: int) -> str:
    """A text."""
    return " ".join(sentence() for _ in range(sentences))


def queries(count: int) -> list[str]:
    """Queries of eight words, some frequent and some rare."""
    return [" ".join([*DRAW.choices(WORDS[:200], k=3), *DRAW.choices(WORDS[200:5000], k=5)]) for _ in range(count)]


def spread(ask: Callable[[str], object], asked: list[str]) -> str:
    """Median and slowest of a call, in milliseconds."""
    times = []
    for query in asked:
        start = time.perf_counter()
        ask(query)
        times.append((time.perf_counter() - start) * 1000)
    times.sort()
    return f"median {times[len(times) // 2]:.1f} ms, 95 % within {times[int(len(times) * 0.95)]:.1f} ms"


async def pages() -> None:
    """HTML of 200 kB and PDF of 20 pages through the parsing processes."""
    from servers.web import article, pdf

    paragraphs = []
    while sum(map(len, paragraphs)) < 190_000:
        paragraphs.append(text(6))
    html = article("A long page", *paragraphs, published="2024-03-05").encode()
    paper = pdf(["\n".join(sentence()[:95] for _ in range(45)) for _ in range(20)])
    parsers = Parsers(ToolLimits(parsers=os.cpu_count() or 1))
    jobs = (("HTML 200 kB", html, "text/html", 60), ("PDF 20 pages", paper, "application/pdf", 20))
    url = "https://a.example/p"
    for name, body, kind, count in jobs:
        source = Source(url=url, final_url=url, status=200, headers={"content-type": kind})
        await asyncio.gather(*(parsers.parse(source, body) for _ in range(4)))
        start = time.perf_counter()
        found = await asyncio.gather(*(parsers.parse(source, body) for _ in range(count)))
        seconds = time.perf_counter() - start
        assert all(page.state is PageState.OK and len(page.text) > 50_000 for page in found), found[0].reason
        rate, size = count / seconds, len(body) // 1000
        print(f"{name:<14} {rate:6.1f} pages/s with {parsers.limits.parsers} processes ({size} kB)")
    await parsers.close()


def passages() -> None:
    """A thousand pages of 60 sentences."""
    url = "https://a.example/{}"
    made = [Page(url=url.format(n), final_url="", state=PageState.OK, text=text(60), key="") for n in range(1000)]
    start = time.perf_counter()
    index = PassageIndex(made)
    seconds = time.perf_counter() - start
    print(f"Passages: 1,000 pages, {len(index):,} sentences indexed at {len(index) / seconds:,.0f} sentences/s")
    print(f"Passages: search {spread(index.search, queries(60))}")
    start = time.perf_counter()
    for page in made[:20]:
        is_copy(page.text, made[0].text)
    print(f"Copies: {20 / (time.perf_counter() - start):,.0f} pairs of 1,000 words a second")


def corpus() -> None:
    """Ten thousand documents of 30 sentences."""
    documents = [Document(url=f"https://a.example/{n}", title=sentence()[:60], text=text(30)) for n in range(10_000)]
    db = sqlite3.connect(":memory:")
    start = time.perf_counter()
    fill(db, documents)
    print(f"Corpus: 10,000 documents indexed in {time.perf_counter() - start:.0f} s")
    print(f"Corpus: search {spread(Corpus(db).search, queries(60))}")


def main() -> None:
    """Run all of it."""
    asyncio.run(pages())
    passages()
    corpus()
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"Peak memory: {own} MB here, {children} MB in the largest parsing process")


if __name__ == "__main__":
    main()
