"""The world that runs are measured in: one process that is the judge, the search engine and the web.

Started by benchmarks/runs.py; stops when its standard input closes. Speaks OpenAI's chat completions
(``/v1/chat/completions``), SearXNG's JSON (``/search``), an empty archive (``/wayback``), and serves a page under any
other path. ``/stats`` tells what was asked. A completion takes ``--latency`` seconds, a page or a search
``--web-latency``.

Replies have the form and size that each prompt asks for and mean nothing. Pages have 3,000 to 48,000 characters drawn
by their address; what reports say of a page (``--pages FILE``, path to sentences) stands in it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Body = dict[str, Any]
WORDS = ["".join(random.Random(n).choices("aabcdeefghiilmnoprstu", k=4 + n % 7)) for n in range(900)]
SEARCH_HITS = 4


# --- the judge -------------------------------------------------------------------------------------------------------


def lines_of(text: str) -> dict[int, str]:
    """Numbered sentences of a prompt."""
    return {int(number): line for number, line in re.findall(r"^\[(\d+)\] (.*)$", text, re.MULTILINE)}


def claims(text: str) -> Any:
    """Sentences that hold a figure: as many written out as were asked for, the others by number."""
    first, last = map(int, re.findall(r"sentences (\d+) to (\d+), (?:in order|list)", text)[-1])
    stated = [n for n, line in lines_of(text).items() if first <= n <= last and re.search(r"\d", line)]
    most = re.search(r"list the (\d+) most important", text)
    chosen = stated[: int(most[1])] if most else stated
    lines = lines_of(text)
    drafts = [{"sentence": n, "importance": 3, "changes": False, "text": lines[n][:400]} for n in chosen]
    return {"claims": drafts} | ({"others": stated[len(chosen) :]} if most else {})


def writing(_: str) -> Any:
    """Six marks."""
    names = ("organisation", "clarity", "coherence", "concision", "format", "language")
    return dict.fromkeys(names, 4) | {"faults": [{"criterion": "concision", "sentence": 2}]}


def facts(text: str) -> Any:
    """Every second fact is found in the first sentence that is shown."""
    head, _, questions = text.partition("Does the report itself state each of these facts?")
    first = min(lines_of(head), default=1)
    ids = re.findall(r"^(k\d+): ", questions, re.MULTILINE)
    no, yes = {"answer": "no", "sentences": []}, {"answer": "yes", "sentences": [first]}
    return rows({id: yes if n % 2 else no for n, id in enumerate(ids)})


def verdict(claim: str, sentences: dict[int, str]) -> Any:
    """Supported by a sentence that has all the figures of the claim."""
    figures = set(re.findall(r"\d+", claim))
    found = next((n for n, line in sentences.items() if figures <= set(re.findall(r"\d+", line))), None)
    word = "not_enough_evidence" if found is None else "supported"
    return {"verdict": word, "sentences": [] if found is None else [found]}


def passages(text: str) -> Any:
    """One claim, some passages."""
    head, _, question = text.rpartition("Claim: ")
    shown = re.findall(r"^<evidence (P\d+) \w+>\n(.*?)\n</evidence", head, re.DOTALL | re.MULTILINE)
    return rows({id: verdict(question.partition("\n")[0], lines_of(lines)) for id, lines in shown})


def page(text: str) -> Any:
    """All claims that cite a page."""
    head, _, question = text.partition("Claims that cite this page:\n")
    listed = re.findall(r"^(c\d+): (.*)$", question, re.MULTILINE)
    return rows({id: verdict(claim, lines_of(head)) for id, claim in listed})


def rows(given: dict[str, Any]) -> Any:
    """Answers by id as the rows that are asked for."""
    return {"answers": [{"id": id, **one} for id, one in given.items()]}


def domain(_: str) -> Any:
    """A kind and a score."""
    return {"kind": "news", "score": 7}


RESEARCH = """I search and read.
<code>
found = []
for hit in web_search({query!r}):
    page = read_page(hit['url'])
    print(page['url'], page['state'], page['text'])
    if page['state'] == 'ok' and len(found) < 3:
        found.append(page)
</code>"""
PROTOCOL = """I answer.
<code>
keys = []
for page in found:
    for line in page['text'].split('\\n')[1:5]:
        number, _, fact = line.partition('] ')
        fact = ' '.join(fact.split()[:9]).strip('.')
        keys.append({'fact': fact, 'question': 'Does the report state that ' + fact + '?', 'rationale': 'asked for',
                     'time_sensitive': False, 'sources': [[page['url'], int(number[1:])]]})
plan = {'extract': 'its figures', 'lookup': LOOKUP, 'where': 'web', 'cross_check': 'compare them',
        'against': 'other figures'}
reasons = [{'question': 'How does the report weigh ' + side + '?', 'rationale': 'asked for', 'plan': plan}
           for side in ('the costs of what it proposes', 'sources that disagree', 'what it leaves out')]
final_answer({'key_questions': keys[:10], 'reasoning_questions': reasons})
</code>"""
VERIFY = """I look.
<code>
print(report_find('figures'))
read = []
for hit in web_search({query!r})[:2]:
    page = read_page(hit['url'])
    print(page['url'], page['state'], page['text'])
    if page['state'] == 'ok':
        read.append(page['url'])
</code>"""
VERDICT = """I answer.
<code>
final_answer({'coherence': 7, 'validity': 8, 'flaws': [{'kind': 'unsupported claim', 'sentences': [2],
              'note': 'no reason is given'}], 'evidence': [[read[0], 1]], 'reason': 'The page says so.'})
</code>"""


def _query(text: str) -> str:
    found = re.search(r"<query[^>]*>\s*(.+?)\s*</query|query[^\n]*\n+(.{20,})", text, re.DOTALL)
    words = re.findall(r"\w+", (found[1] or found[2]) if found else text)
    return " ".join(words[:8])


def creator(body: Body) -> str:
    """The protocol creator: one step that reads, one that answers from what it read."""
    query = _query(str(body["messages"][1]["content"]))
    if not any(message["role"] == "assistant" for message in body["messages"]):
        return RESEARCH.format(query=query)
    return PROTOCOL.replace("LOOKUP", repr(query))


def verifier(body: Body) -> str:
    """The plan verifier: one step that looks, one that scores."""
    if not any(message["role"] == "assistant" for message in body["messages"]):
        return VERIFY.format(query=_query(str(body["messages"][1]["content"])))
    return VERDICT


ASKED: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("claims", "A claim is something that could be checked", claims),
    ("wq", "Score the writing of the report", writing),
    ("kic", "Does the report itself state each of these facts?", facts),
    ("ci", "Claims that cite this page:", page),
    ("factuality", "Is the claim supported by the evidence", passages),
    ("da", "Its kind and its score?", domain),
)


def answer(body: Body) -> tuple[str, str]:
    """What a prompt asks for, and the reply. LookupError for a prompt that nobody foresaw."""
    system, last = str(body["messages"][0]["content"]), str(body["messages"][-1]["content"])
    if "prepare the evaluation of research reports" in system:
        return "protocol", creator(body)
    if "check the reasoning of a research report" in system:
        return "rq", verifier(body)
    for kind, words, reply in ASKED:
        if words in last:
            return kind, json.dumps(reply(last), ensure_ascii=False)
    raise LookupError(last[-300:])


# --- the web ---------------------------------------------------------------------------------------------------------


class Web:
    """Pages by address, and a search over what reports say of them."""

    def __init__(self, pages: dict[str, list[str]]) -> None:
        """``pages``: address without its query, to sentences that stand there."""
        self.pages = pages
        self._order = sorted(pages)
        self._known: dict[str, bytes] = {}
        self._words: defaultdict[str, set[str]] = defaultdict(set)
        for address, sentences in pages.items():
            for word in {word for sentence in sentences for word in re.findall(r"\w+", sentence.lower())}:
                self._words[word].add(address)

    def search(self, query: str) -> bytes:
        """The addresses that share most words with the query, filled up with drawn ones."""
        shared = Counter(a for word in set(re.findall(r"\w+", query.lower())) for a in self._words.get(word, ()))
        best = sorted(shared, key=lambda address: (-shared[address], address))[:SEARCH_HITS]
        best += random.Random(query).sample(self._order, min(SEARCH_HITS, len(self._order)))
        rows = [
            {"url": address, "title": "A page of its own", "content": (self.pages[address] or ["Nothing."])[0][:200]}
            for address in dict.fromkeys(best[: 2 * SEARCH_HITS])
        ]
        return json.dumps({"query": query, "results": rows[:SEARCH_HITS], "unresponsive_engines": []}).encode()

    def page(self, address: str) -> bytes:
        """An article of drawn length, the same each time."""
        if address not in self._known:
            paragraphs = "".join(f"<p>{text}</p>" for text in self._paragraphs(address))
            html = "<!DOCTYPE html><html lang='en'><head><title>A page of its own</title></head><body><article>"
            self._known[address] = f"{html}<h1>A page of its own</h1>{paragraphs}</article></body></html>".encode()
        return self._known[address]

    def _paragraphs(self, address: str) -> list[str]:
        draw, texts = random.Random(address), []
        size, said = draw.randint(3_000, 48_000), list(self.pages.get(address, ()))
        while size > 0 or said:
            words = [" ".join(draw.choices(WORDS, k=14)) for _ in range(4)]
            text = " ".join(f"{line[:1].upper()}{line[1:]}." for line in words) + (f" {said.pop(0)}" if said else "")
            size -= len(text)
            texts.append(text)
        return texts


# --- the server ------------------------------------------------------------------------------------------------------


class World:
    """The server's state."""

    def __init__(self, web: Web, latency: float, web_latency: float) -> None:
        self.web, self.latency, self.web_latency = web, latency, web_latency
        self.calls: Counter[str] = Counter()
        self.first = self.last = 0.0
        self.running = self.peak = 0
        self.times: list[tuple[float, float]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while line := await reader.readline():
                _, target, _ = line.decode("latin-1").split(" ", 2)
                headers = {}
                while (line := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = line.decode("latin-1").partition(":")
                    headers[name.lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                status, kind, data = await self._reply(target, headers.get("host", ""), body)
                head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
                writer.write(head.encode() + data)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _reply(self, target: str, host: str, body: bytes) -> tuple[int, str, bytes]:
        path = urlsplit(target).path
        if path == "/v1/chat/completions":
            return await self._timed(self._completion, body)
        if path == "/stats":
            return 200, "application/json", json.dumps(self.stats()).encode()
        if path == "/reset":
            self.calls.clear()
            self.first = self.last = 0.0
            self.peak = 0
            self.times.clear()
            return 200, "application/json", b"{}"
        await asyncio.sleep(self.web_latency)
        if path.startswith("/wayback"):
            return 200, "application/json", b'{"archived_snapshots": {}}'
        if path == "/search":
            self.calls["search"] += 1
            return 200, "application/json", self.web.search(parse_qs(urlsplit(target).query)["q"][0])
        self.calls["page"] += 1
        return 200, "text/html; charset=utf-8", self.web.page(f"http://{host}{path}")

    async def _timed(
        self, do: Callable[[bytes], Awaitable[tuple[int, str, bytes]]], body: bytes
    ) -> tuple[int, str, bytes]:
        self.first = self.first or time.monotonic()
        self.running += 1
        self.peak = max(self.peak, self.running)
        try:
            return await do(body)
        finally:
            self.running -= 1
            self.last = time.monotonic()

    async def _completion(self, raw: bytes) -> tuple[int, str, bytes]:
        began, body = time.monotonic(), json.loads(raw)
        try:
            kind, text = answer(body)
        except LookupError as error:
            print(f"no reply for: {error}", file=sys.stderr, flush=True)
            return 400, "application/json", json.dumps({"error": {"message": f"unforeseen: {error}"}}).encode()
        self.calls[kind] += 1
        await asyncio.sleep(began + self.latency - time.monotonic())
        self.times.append((began, time.monotonic()))
        asked = sum(len(str(message["content"])) for message in body["messages"]) // 4
        said = len(text) // 4
        data = {
            "id": "made-up",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body["model"],
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"},
            ],
            "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
        }
        return 200, "application/json", json.dumps(data, ensure_ascii=False).encode()

    def stats(self) -> dict[str, Any]:
        """What was asked so far: answered calls by kind, first to last completion in seconds, most at once, and how
        many were under way second by second."""
        return {
            "calls": dict(self.calls),
            "span_s": self.last - self.first,
            "peak": self.peak,
            "flight": self.flight(),
        }

    def flight(self) -> list[float]:
        """Completions under way: the mean of each second, from the first to the last."""
        busy: defaultdict[int, float] = defaultdict(float)
        for began, ended in self.times:
            for second in range(int(began - self.first), int(ended - self.first) + 1):
                low = self.first + second
                busy[second] += min(ended, low + 1) - max(began, low)
        return [round(busy[second], 1) for second in range(max(busy, default=-1) + 1)]


async def serve(world: World, port: int) -> None:
    """Serve until standard input closes; the port is printed first."""
    server = await asyncio.start_server(world.serve, "127.0.0.1", port, limit=1 << 24, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


def main() -> None:
    """Read the options and serve."""
    wishes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wishes.add_argument("--pages", type=Path)
    wishes.add_argument("--latency", type=float, default=0.0)
    wishes.add_argument("--web-latency", type=float, default=0.0)
    wishes.add_argument("--port", type=int, default=0)
    given = wishes.parse_args()
    pages = json.loads(given.pages.read_text(encoding="utf-8")) if given.pages else {}
    asyncio.run(serve(World(Web(pages), given.latency, given.web_latency), given.port))


if __name__ == "__main__":
    main()
