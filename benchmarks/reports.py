"""How fast reports are read, and what is found in real ones. No network; run it on a quiet machine.

python benchmarks/reports.py [FOLDER]      FOLDER: public sample data [default: ../shared/data, where it is there]
"""

from __future__ import annotations

import gc
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dream_eval.reports import Report, SourceKind, lint_json, load_reports, read_report, split_sentences

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000, 5_000_000)
DRAW = random.Random(7)
WORDS = ["".join(DRAW.choices("aabcdeefghiijklmnooprstuvwxyz", k=DRAW.randint(2, 10))) for _ in range(5000)]
HAN = [chr(0x4E00 + n * 7) for n in range(2500)]
MARKS = ("[{}]", "[{}, 2]", "[{}-4]", "【{}】", "[[{}]](https://site{}.org/p)", "[a study](https://site{}.org/s)")
SOURCES = 60


def latin(sentences: int) -> str:
    """Sentences with numbers, names and a citation behind two of three."""
    made = []
    for _ in range(sentences):
        words = DRAW.choices(WORDS, k=DRAW.randint(8, 24))
        words[0] = words[0].capitalize()
        if DRAW.random() < 0.4:
            words.append(f"{DRAW.random() * 100:.1f} %")
        mark = DRAW.choice(MARKS).format(DRAW.randint(1, SOURCES), DRAW.randint(1, 99)) if DRAW.random() < 0.66 else ""
        made.append(f"{' '.join(words)} {mark}.".replace(" .", "."))
    return " ".join(made)


def chinese(sentences: int) -> str:
    """The same in Chinese."""
    made = []
    for _ in range(sentences):
        mark = f"[{DRAW.randint(1, SOURCES)}]" if DRAW.random() < 0.66 else ""
        made.append(f"{''.join(DRAW.choices(HAN, k=DRAW.randint(12, 40)))}{mark}。")
    return "".join(made)


def report(size: int, prose: Callable[[int], str]) -> str:
    """A report of about ``size`` characters: headings, paragraphs, lists, tables, code, a list of sources."""
    parts, length, number = ["# A long report\n"], 0, 0
    while length < size:
        number += 1
        rows = "\n".join(f"| {WORDS[n]} | {n} [{n % SOURCES + 1}] | {n / 7:.2f} |" for n in range(4))
        part = (
            f"## {number}. {' '.join(DRAW.choices(WORDS, k=4))}\n\n{prose(6)}\n\n{prose(5)}\n\n"
            + "\n".join(f"- {prose(1)}" for _ in range(4))
            + (f"\n\n| a | b | c |\n|---|---|---|\n{rows}" if number % 3 == 0 else "")
            + ("\n\n```python\nrow[1] = table[2][3]\n```" if number % 5 == 0 else "")
        )
        parts.append(part)
        length += len(part)
    entries = "\n".join(
        f"[{n}] {WORDS[n].title()} {WORDS[n + 9]}. https://site{n}.org/p/{n}" for n in range(1, SOURCES + 1)
    )
    return "\n\n".join((*parts, f"## Sources\n\n{entries}\n"))


def best(call: Callable[[], object], times: int) -> float:
    """The best of several runs, in seconds of this thread's processor time."""
    found = []
    for _ in range(times):
        gc.collect()
        start = time.thread_time()
        call()
        found.append(time.thread_time() - start)
    return min(found)


def synthetic() -> None:
    """Speed by size: it must not fall."""
    for name, prose in (("English", latin), ("Chinese", chinese)):
        print(f"\n{name}, synthetic\n{'kB':>8} {'s':>8} {'MB/s':>7} {'sentences':>10} {'marks':>8} {'resolved':>9}")
        for size in SIZES if prose is latin else (30_000, 300_000, 1_000_000):
            text = report(size, prose)
            kept: list[Report] = []
            seconds = best(lambda text=text, kept=kept: kept.append(read_report(text, id="x")), 3 if size < 2e6 else 1)
            found, size_of = kept[-1], len(text.encode())
            resolved = sum(1 for mark in found.marks if mark.sources)
            print(
                f"{size_of / 1e3:8.0f} {seconds:8.3f} {size_of / 1e6 / seconds:7.2f} {len(found.sentences):10,}"
                f" {len(found.marks):8,} {resolved:9,}"
            )
            assert resolved == len(found.marks)


def pieces() -> None:
    """The parts on their own, at 1 MB."""
    text = report(1_000_000, latin)
    size = len(text.encode()) / 1e6
    print(f"\nsentences alone (pages are cut with it): {size / best(lambda: split_sentences(text), 3):.1f} MB/s")
    read = read_report(text, id="x")
    print(f"JSON of `dream lint --json`: {size / best(lambda: lint_json(read), 3):.1f} MB/s")


def real(folder: Path) -> None:
    """Every real report: what is found, and how fast all of them are read."""
    paths = [*sorted((folder / "drb" / "raw_data").glob("*.jsonl")), folder / "onyx", folder / "dre" / "gemini_2.5_pro"]
    found = [(path.stem, one) for path in paths if path.exists() for one in load_reports(path)]
    print(f"\n{'system':<22} {'task':>5} {'kB':>5} {'sent.':>6} {'marks':>6} {'resolved':>9} {'lists':>6} {'URLs':>5}")
    for system, one in found:
        resolved = sum(1 for mark in one.marks if mark.sources)
        share = f"{resolved / len(one.marks):.0%}" if one.marks else "–"
        listed = sum(1 for source in one.sources if source.kind is not SourceKind.INLINE)
        urls = len({source.target for source in one.sources if source.target})
        print(
            f"{system:<22} {one.task_id or '':>5} {len(one.text.encode()) / 1e3:5.0f} {len(one.sentences):6,}"
            f" {len(one.marks):6,} {share:>9} {listed:6,} {urls:5,}"
        )
    texts = [one.text for _, one in found]
    size = sum(len(text.encode()) for text in texts) / 1e6
    seconds = best(lambda: [read_report(text, id="x") for text in texts], 3)
    print(f"\n{len(texts)} real reports, {size:.2f} MB: {size / seconds:.2f} MB/s")


def main() -> None:
    """Run all of it."""
    synthetic()
    pieces()
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if folder.is_dir():
        real(folder)
    else:
        print(f"\n{folder}: no sample data here; the real reports are left out")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
