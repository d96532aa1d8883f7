"""What a run takes beside what its calls take: time, calls, tokens, CPU, memory; again, and in shards.

    python benchmarks/runs.py [SCENARIO …] [--latency S] [--best-of N] [--data DIR] [--profile DIR]

Scenarios: ``fifteen tokens makespan shards ray memory`` [default: all, in this order]. benchmarks/README.md says what
is measured and how. Everything runs against one server process of its own (benchmarks/world.py) and writes to a
temporary folder. Tokens are o200k_base where ``bpe-openai`` is installed, else four characters each.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import hashlib
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from prompts import shares

ROOT = Path(__file__).resolve().parents[1]
WORLD = Path(__file__).with_name("world.py")
DATA = ROOT.parent / "shared" / "data"
SYSTEMS = ("claude-3-7-sonnet", "langchain-odr-gpt-4.1", "langchain-odr-gpt-5")
METRICS = ("kic", "rq", "wq", "factuality", "ci", "da")
LINK = re.compile(r"https?://[^\s)\]>\"'，。；）】]+")
WEB_LATENCY = 0.1
CONCURRENCY = 64
PROFILE = "DREAM_BENCHMARK_PROFILE"
CLAIMS = 15
"""Claims checked a report."""


# --- the server and what it serves -----------------------------------------------------------------------------------


@dataclass
class Served:
    """A server process."""

    port: int

    @property
    def judge(self) -> str:
        """Name for ``--judge``."""
        return f"http://127.0.0.1:{self.port}/v1#mock"

    def get(self, path: str) -> Any:
        """An answer of the server."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as reply:
            return json.load(reply)


class Links:
    """Addresses on the server that stand for real ones: each host keeps to itself, so that politeness counts."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: dict[str, list[str]] = {}

    def __call__(self, url: str) -> str:
        """The address that stands for ``url``."""
        name = hashlib.sha256((urlsplit(url).hostname or url).encode()).hexdigest()[:10]
        page = f"http://www.h{name}.org:{self.port}/{hashlib.sha256(url.encode()).hexdigest()[:12]}"
        self.pages.setdefault(page, [])
        return page

    def rewritten(self, text: str) -> str:
        """The text with its links led to the server; each page says what the line around its link says."""
        lines = [LINK.sub(lambda link: self(link[0].rstrip(".,;:")), line) for line in text.splitlines()]
        for line in lines:
            for page in LINK.findall(line):
                if page in self.pages and len(self.pages[page]) < 5:
                    said = re.sub(r"\s+", " ", LINK.sub("", line).replace("[]()", "")).strip(" -*()[]")
                    self.pages[page].append(said[:300])
        return "\n".join(lines)


@contextmanager
def world(folder: Path, make: Callable[[Links], None], *, latency: float) -> Iterator[Served]:
    """Serve what ``make`` writes of pages; the port has to be known before the reports are written."""
    pages = folder / "pages.json"
    pages.write_text("{}")
    with served(pages, latency=0.0) as probe:
        port = probe.port
    links = Links(port)
    make(links)
    pages.write_text(json.dumps(links.pages))
    with served(pages, latency=latency, port=port) as server:
        yield server


@contextmanager
def served(pages: Path, *, latency: float, port: int = 0) -> Iterator[Served]:
    """A server process for as long as the context lasts."""
    command = [sys.executable, str(WORLD), "--pages", str(pages), "--latency", str(latency)]
    command += ["--web-latency", str(WEB_LATENCY), "--port", str(port)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Served(int(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(10)


def real_reports(folder: Path, data: Path) -> Callable[[Links], None]:
    """The 30 sample reports of DeepResearch Bench, as three systems' files in ``folder``."""

    def make(links: Links) -> None:
        for system in SYSTEMS:
            source = data / "drb" / "raw_data" / f"{system}.jsonl"
            rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
            write_rows(folder / f"{system}.jsonl", [row | {"article": links.rewritten(row["article"])} for row in rows])

    return make


def made_reports(folder: Path, systems: int, tasks: int, *, padding: int = 0) -> Callable[[Links], None]:
    """Reports of 15 claims and 15 sources each, and ``padding`` characters of other text."""

    def make(links: Links) -> None:
        for system in range(systems):
            rows = [made_report(links, f"s{system}", f"t{task}", padding) for task in range(tasks)]
            write_rows(folder / f"s{system}.jsonl", rows)

    return make


def made_report(links: Links, system: str, task: str, padding: int) -> dict[str, str]:
    """One of them."""
    draw = random.Random(f"{system} {task}")
    names = ["".join(draw.choices("abdegiklmnorstu", k=7)).capitalize() for _ in range(15)]
    claims = [f"The {name} works made {draw.randint(100, 9_999)} cells in {2000 + n}" for n, name in enumerate(names)]
    text = " ".join(f"{claim} [{n}]." for n, claim in enumerate(claims, 1))
    more = "".join(f"\n\nOf {name} much is told elsewhere, and none of it is a figure." for name in names)
    sources = "\n".join(f"[{n}] {links(f'https://{task}-{n}.example.com/{system}')}" for n in range(1, 16))
    body = (
        f"# The works of {task}\n\n{text}{(more * (1 + padding // len(more)))[:padding]}\n\n## Sources\n\n{sources}\n"
    )
    for n, claim in enumerate(claims, 1):
        links.pages[links(f"https://{task}-{n}.example.com/{system}")].append(f"{claim}.")
    return {"id": task, "prompt": f"What is known of the works of {task}, and how much do they make?", "article": body}


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """JSONL."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


# --- one run, in a process of its own --------------------------------------------------------------------------------


async def resolve(_host: str, _port: int) -> list[str]:
    """Every host is this machine."""
    return ["127.0.0.1"]


def child(wish: dict[str, Any]) -> dict[str, Any]:
    """Run what is wished for and tell what it took. In a fresh process, so that CPU and memory are its own."""
    from dream_eval.models import Limits
    from dream_eval.runs.api import prepare
    from dream_eval.runs.perform import Outside, perform
    from dream_eval.runs.store import RunFolder
    from dream_eval.tools import Endpoints

    folder, port = Path(wish["folder"]), wish["port"]
    pages = json.loads((folder / "pages.json").read_text())
    address = f"http://127.0.0.1:{port}"
    ends = Endpoints(
        allow=frozenset({(str(urlsplit(page).hostname), port) for page in pages} | {("127.0.0.1", port)}),
        resolver=resolve,
        wayback=f"{address}/wayback",
        wayback_pages=f"{address}/wayback/",
    )
    began, used = time.monotonic(), cpu_s()
    ask = prepare(
        {path.stem: str(path) for path in sorted(folder.glob("*.jsonl"))},
        judge=f"{address}/v1#mock",
        search=f"searxng:{address}",
        out=folder / wish["out"],
        ledger=folder / f"{wish['out']}.sqlite",
        as_of="2025-12-31",
        concurrency=wish.get("concurrency", CONCURRENCY),
        metrics=wish.get("metrics", METRICS),
        max_claims=wish.get("claims", CLAIMS),
        shard=tuple(wish["shard"]) if wish.get("shard") else None,
    )
    ready = time.monotonic()
    outside = Outside(limits=Limits(context=128_000), endpoints=ends)
    with ray_nodes(wish.get("nodes", 0)) as cluster:
        result = asyncio.run(perform(ask, outside=outside, ray=cluster))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = RunFolder(result.folder).lines()  # not result.results, which holds them all
    failed = Counter(line.result.reason[:60] for line in lines if line.result.score is None)
    return {
        "state": result.state.value,
        "units": result.summary.expected,
        "unscored": failed.total(),
        "why": failed.most_common(5),
        "made": result.summary.totals.made,
        "prepare_s": ready - began,
        "wall_s": time.monotonic() - began,
        "cpu_s": cpu_s() - used,
        "cpu_children_s": resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime,
        "peak_mb": peak,
    }


@contextmanager
def ray_nodes(number: int) -> Iterator[Any]:
    """A Ray cluster of so many nodes on this machine, each with room for two reports at a time; None for none."""
    if not number:
        yield None
        return
    from dream_eval.runs.shards import Cluster
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(number):
            nodes.add_node(num_cpus=1)
        yield Cluster(nodes.address)
    finally:
        nodes.shutdown()


def profiled(wish: dict[str, Any]) -> dict[str, Any]:
    """The same under cProfile, for ``--profile``: with the clock of this process's CPU, since a run mostly waits."""
    profile = cProfile.Profile(time.process_time)
    told: dict[str, Any] = profile.runcall(child, wish)
    profile.dump_stats(Path(wish["profile"]) / f"{Path(wish['folder']).name}-{wish['out']}-{os.getpid()}.prof")
    return told


def cpu_s() -> float:
    """User and system time of this process."""
    return sum(os.times()[:2])


def run(server: Served, folder: Path, out: str, **more: Any) -> dict[str, Any]:
    """What one run took, the server's view (``calls``, ``span_s``, ``peak``) included."""
    server.get("/reset")
    processes = start(server, folder, out, **more)
    done = finish(processes)
    return done | server.get("/stats")


def start(server: Served, folder: Path, out: str, **more: Any) -> subprocess.Popen[str]:
    """A run in a process of its own."""
    wish = {"folder": str(folder), "port": server.port, "out": out, "profile": os.environ.get(PROFILE, ""), **more}
    return subprocess.Popen(
        [sys.executable, str(Path(__file__)), "--child", json.dumps(wish)], stdout=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it tells at its end."""
    said, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a run ended with {process.returncode}")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


# --- scenarios -------------------------------------------------------------------------------------------------------


@dataclass
class Wish:
    """What the command line asks for."""

    data: Path
    latencies: tuple[float, ...]
    best_of: int


def makespan(wish: Wish, folder: Path) -> Iterator[str]:
    """30 real reports × 6 metrics at 64 calls in flight: first call to last over the bound; then the same run again."""
    for latency in wish.latencies:
        place = fresh(folder / f"at{latency:g}")
        with world(place, real_reports(place, wish.data), latency=latency) as server:
            ratios = []
            for number in range(wish.best_of):
                took = run(server, place, f"run{number}")
                model = models_calls(took)
                work, chain = model * latency / CONCURRENCY, critical_path(latency)
                ratios.append(took["span_s"] / max(work, chain))
                yield (
                    f"{latency:g} s a call: {model} model calls, {took['calls'].get('page', 0)} pages, "
                    f"{took['calls'].get('search', 0)} searches; {took['span_s']:.1f} s over max(work {work:.1f} s, "
                    f"chain {chain:.1f} s) = {ratios[-1]:.2f}; most in flight {took['peak']}; "
                    f"{took['peak_mb']:.0f} MB; {told(took)}"
                )
            yield f"in flight, second by second: {' '.join(f'{mean:.0f}' for mean in took['flight'])}"
            yield f"{latency:g} s a call: best of {len(ratios)}: {min(ratios):.2f}"
            again = run(server, place, "run0")
            yield f"the same command again: {models_calls(again)} calls, {again['wall_s']:.2f} s ({told(again)})"
            yield own_cpu(server, took, again)


def critical_path(latency: float) -> float:
    """The longest chain that the data force: two turns of the creator and two of the verifier, and between the turns of
    each a search and the pages that its code reads one after another (4, then 2)."""
    return 4 * latency + (1 + 4 + 1 + 2) * WEB_LATENCY


def own_cpu(server: Served, took: dict[str, Any], again: dict[str, Any]) -> str:
    """CPU of the run's process a recorded call, without what the bare SDK takes for as many completions; and without
    what the same command takes that makes no call: imports, reading of reports, the table."""
    bare = asyncio.run(sdk_ms(server))
    own = (1000 * took["cpu_s"] - bare * models_calls(took)) / took["made"]
    calls = own - 1000 * again["cpu_s"] / took["made"]
    return (
        f"own CPU {own:.1f} ms a recorded call, {calls:.1f} without start and end (process {took['cpu_s']:.1f} s for "
        f"{took['made']} calls, {again['cpu_s']:.1f} s for none; SDK {bare:.1f} ms a completion; parsers, in processes "
        f"of their own, {took['cpu_children_s']:.1f} s)"
    )


async def sdk_ms(server: Served, calls: int = 200) -> float:
    """CPU of one bare SDK call with a prompt of middling length, milliseconds."""
    from openai import AsyncOpenAI

    text = "[1] A sentence of evidence.\n" * 40 + "\n\nClaim: It made 5.\n\nIs the claim supported by the evidence?"
    messages: Any = [{"role": "system", "content": "You check."}, {"role": "user", "content": text}]
    async with AsyncOpenAI(base_url=server.judge.partition("#")[0], api_key="none", max_retries=0) as client:

        async def ask() -> None:
            await client.chat.completions.with_raw_response.create(model="mock", messages=messages)

        await asyncio.gather(*(ask() for _ in range(CONCURRENCY)))
        used = cpu_s()
        for _ in range(calls // CONCURRENCY):
            await asyncio.gather(*(ask() for _ in range(CONCURRENCY)))
        return 1000 * (cpu_s() - used) / (calls // CONCURRENCY * CONCURRENCY)


def tokens(wish: Wish, folder: Path) -> Iterator[str]:
    """Calls and prompt tokens a report by metric, on the 30 real reports; what a prefix cache can serve."""
    place = fresh(folder / "tokens")
    with world(place, real_reports(place, wish.data), latency=0.0) as server:
        run(server, place, "run")
    yield from shares(place / "run.sqlite", 30)


def fifteen(_: Wish, folder: Path) -> Iterator[str]:
    """One report of 15 claims and 15 sources, nothing shared with others."""
    place = fresh(folder / "fifteen")
    with world(place, made_reports(place, 1, 1), latency=0.0) as server:
        took = run(server, place, "run", claims=None)
    yield f"15 claims, 15 sources, alone: {models_calls(took)} model calls ({told(took)})"
    yield from shares(place / "run.sqlite", 1)


def memory(_: Wish, folder: Path) -> Iterator[str]:
    """1,000 reports of 20,000 characters by six metrics, streamed; two claims and three questions each."""
    place = fresh(folder / "memory")
    with world(place, made_reports(place, 4, 250, padding=18_000), latency=0.05) as server:
        took = run(server, place, "run", claims=2)
    what = f"1,000 reports × {len(METRICS)} metrics"
    yield f"{what}: peak {took['peak_mb']:.0f} MB ({told(took)}, {took['wall_s']:.0f} s)"


def shards(_: Wish, folder: Path) -> Iterator[str]:
    """40 tasks at 8 calls in flight: one process, then four shards at a time. Start-up apart."""
    place = fresh(folder / "shards")
    latency, metrics = 4.0, ["wq", "ci"]
    with world(place, made_reports(place, 1, 40), latency=latency) as server:
        took = run(server, place, "one", concurrency=8, metrics=metrics, claims=5)
        one = took["span_s"]
        server.get("/reset")
        parts = [
            start(server, place, f"part{n}", concurrency=8, metrics=metrics, claims=5, shard=[n, 4])
            for n in range(1, 5)
        ]
        for part in parts:
            finish(part)
        four = server.get("/stats")["span_s"]
    yield f"40 tasks, {latency:g} s a call: {one:.1f} s in one, {four:.1f} s in four shards: {one / four:.2f} ×"


def ray(_: Wish, folder: Path) -> Iterator[str]:
    """The 40 tasks at 32 calls in flight: one process, then a Ray cluster of four nodes, and that again."""
    place = fresh(folder / "ray")
    latency, more = 4.0, {"concurrency": 32, "metrics": ["wq", "ci"], "claims": 5}
    with world(place, made_reports(place, 1, 40), latency=latency) as server:
        one = run(server, place, "one", **more)
        far = run(server, place, "far", nodes=4, **more)
        again = run(server, place, "far", nodes=4, **more)
    here, there = ((place / name / "results.jsonl").read_bytes() for name in ("one", "far"))
    yield (
        f"40 tasks, {latency:g} s a call: {models_calls(one)} model calls and {one['span_s']:.1f} s in one process, "
        f"{models_calls(far)} and {far['span_s']:.1f} s on four nodes: {far['span_s'] / one['span_s']:.2f}; most in "
        f"flight {one['peak']} and {far['peak']}; results {'the same' if here == there else 'differ'}; {told(far)}"
    )
    yield f"the same command again: {models_calls(again)} calls"


SCENARIOS: dict[str, Callable[[Wish, Path], Iterator[str]]] = {
    "fifteen": fifteen,
    "tokens": tokens,
    "makespan": makespan,
    "shards": shards,
    "ray": ray,
    "memory": memory,
}


def models_calls(took: dict[str, Any]) -> int:
    """Completions that the server answered."""
    return sum(number for kind, number in took["calls"].items() if kind not in ("page", "search"))


def told(took: dict[str, Any]) -> str:
    """How the run ended."""
    why = ", ".join(f"{number} {reason}" for reason, number in took["why"])
    return f"{took['state']}, {took['units']} units, {took['unscored']} without a score{f': {why}' if why else ''}"


def fresh(folder: Path) -> Path:
    """An empty folder."""
    folder.mkdir(parents=True)
    return folder


def main() -> None:
    """Run the scenarios that were asked for and print what they took."""
    wishes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wishes.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    wishes.add_argument("--latency", type=float, action="append", help="seconds a call [default: 1 and 0.2]")
    wishes.add_argument("--best-of", type=int, default=1)
    wishes.add_argument("--data", type=Path, default=DATA)
    wishes.add_argument("--profile", type=Path, metavar="DIR", help="a cProfile of each run's process is put there")
    given = wishes.parse_args()
    if given.profile:
        given.profile.mkdir(parents=True, exist_ok=True)
        os.environ[PROFILE] = str(given.profile)
    if unknown := [name for name in given.scenarios if name not in SCENARIOS]:
        wishes.error(f"no scenario {unknown[0]!r}: there are {', '.join(SCENARIOS)}")
    wish = Wish(given.data, tuple(given.latency or (1.0, 0.2)), given.best_of)
    for name in given.scenarios or SCENARIOS:
        print(f"\n{name}: {(SCENARIOS[name].__doc__ or '').strip()}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for line in SCENARIOS[name](wish, Path(folder)):
                print(f"  {line}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        wish = json.loads(sys.argv[2])
        print(json.dumps((profiled if wish["profile"] else child)(wish)))
    else:
        main()
