"""Protocols: compared, rated by people on a local page and in the terminal, made in three ways."""

from __future__ import annotations

import datetime as dt
import http.client
import io
import json
import re
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from dream_eval.cli import run as dream
from dream_eval.core import AsOf, Task
from dream_eval.errors import InputError
from dream_eval.protocols import load_protocol, save_protocol, seal
from dream_eval.protocols.diff import evidence_change, word_changes
from dream_eval.protocols.schema import KeyQuestion, Maker, Mode, Plan, Protocol, Provenance, ReasoningQuestion
from dream_eval.studies import protocol_study
from dream_eval.studies.harness import open_bench
from dream_eval.studies.rating_page import RatingServer
from dream_eval.studies.ratings import Line, agreed, load_ratings, questions_of
from servers.chat import ScriptedChat, last_user, prompt

DAY = dt.date(2025, 6, 30)
KEY = "a" * 64


def source(url: str = "https://a.org/x", quote: str = "It is so.", published: dt.date | None = DAY) -> Provenance:
    return Provenance(url=url, quote=quote, published=published, key=KEY)


def key(id: str, text: str, **more: Any) -> KeyQuestion:
    return KeyQuestion(id=id, text=text, fact=text, **({"provenance": (source(),)} | more))


def protocol(*keys: KeyQuestion, day: dt.date = DAY, query: str = "What is <b>known</b>?") -> Protocol:
    plan = Plan(extract="premises", lookup="plant", cross_check="compare", against="another figure")
    open_ = ReasoningQuestion(id="r1", text="How well does the report justify its view?", plan=plan)
    return seal(
        Protocol(
            task=Task(id="t", prompt=query),
            as_of=AsOf(day=day),
            created_at=dt.datetime(2025, 7, 1, tzinfo=dt.UTC),
            maker=Maker(model="m", mode=Mode.GUIDED, prompt_version=1),
            key_questions=keys,
            reasoning_questions=(open_,),
        )
    )


OLD = protocol(
    key("k1", "Does the report state that the plant has 12 turbines?"),
    key("k2", "Does the report state that salmon swim up the estuary in autumn?"),
)
NEW = protocol(
    key("k1", "Does the report name the owner?"),
    key("k2", "Does the report state that the plant has 14 turbines?", provenance=(source("https://b.org/y"),)),
    day=dt.date(2025, 7, 31),
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    save_protocol(OLD, "old.json")
    save_protocol(NEW, "new.json")
    return "old.json", "new.json"


# --- diff ------------------------------------------------------------------------------------------------------------


def test_words_that_changed_are_found_in_order_and_nothing_is_lost():
    old, new = "The plant has 12 turbines of the old type.", "The plant has 14 turbines of the type that is new."
    words = word_changes(old, new)
    assert "".join(word.text for word in words if word.kind != "new") == old
    assert "".join(word.text for word in words if word.kind != "gone") == new
    assert ("gone", "12") in [(word.kind, word.text) for word in words]
    assert [w.text for w in word_changes("电站有十二台", "电站有十四台") if w.kind != "same"] == ["二", "四"]


def test_evidence_is_compared_by_address_quote_and_date():
    old = key("k", "x", provenance=(source(), source("https://b.org/y", published=None)))
    new = key("k", "x", provenance=(source(quote="Other."), source("https://c.org/z", published=dt.date(2025, 7, 1))))
    found = evidence_change(old, new)
    assert (found.gone, found.new, found.requoted) == (("https://b.org/y",), ("https://c.org/z",), ("https://a.org/x",))
    assert (found.newest_old, found.newest_new) == (DAY, dt.date(2025, 7, 1))


def test_the_command_shows_what_changed_in_80_columns(files, capsys):
    assert dream(["protocol", "diff", *files]) == 10
    text = capsys.readouterr().out
    assert "1 questions the same, 1 changed, 1 added, 1 gone" in text
    assert "changed k1 -> k2 (text, fact, provenance)" in text
    assert "has [-12-] {+14+} turbines?" in text or "has [-12-]{+14+} turbines?" in text
    assert "evidence gone: https://a.org/x" in text
    assert "evidence new: https://b.org/y" in text
    assert "gone k2" in text
    assert "added k1" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_equal_protocols_differ_in_nothing_whoever_made_them(files, tmp_path, capsys):
    other = OLD.model_copy(update={"maker": Maker(model="another", mode=Mode.AGENT, prompt_version=2)})
    save_protocol(other, tmp_path / "same.json")
    assert dream(["protocol", "diff", "old.json", "same.json"]) == 0
    assert "3 questions the same, 0 changed, 0 added, 0 gone" in capsys.readouterr().out
    assert dream(["protocol", "diff", "old.json", "none.json"]) == 2


def test_the_difference_as_json(files, capsys):
    assert dream(["protocol", "diff", *files, "--json"]) == 10
    found = json.loads(capsys.readouterr().out)
    assert [found["same"], len(found["changed"]), len(found["added"]), len(found["gone"])] == [1, 1, 1, 1]
    assert found["changed"][0]["evidence"]["new"] == ["https://b.org/y"]
    assert found["head"] == ["as_of"]
    assert found["old"]["digest"] == load_protocol("old.json").digest


def test_hostile_text_cannot_steer_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save_protocol(protocol(key("k1", "Does it say \x1b[2J\u202eevil?")), "evil.json")
    save_protocol(OLD, "old.json")
    dream(["protocol", "diff", "old.json", "evil.json"])
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\u202e" not in text


# --- the page --------------------------------------------------------------------------------------------------------


class Visitor:
    """A browser, as far as these pages need one."""

    def __init__(self, server: RatingServer) -> None:
        self.server, self.base = server, urllib.parse.urlsplit(server.url)

    def ask(self, method: str, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str, str]:
        """Status, text and where it leads."""
        link = http.client.HTTPConnection(self.base.hostname or "", self.base.port, timeout=10)
        body = urllib.parse.urlencode(form) if form is not None else None
        sent = {"Content-Type": "application/x-www-form-urlencoded"} if form is not None else {}
        link.request(method, path, body, sent | headers)
        answer = link.getresponse()
        text = answer.read().decode()
        link.close()
        return answer.status, text, answer.headers.get("Location", "")

    def form(self, text: str) -> dict[str, str]:
        """The hidden field of a page's form."""
        found = re.search(r'name="form" value="([^"]+)"', text)
        assert found
        return {"form": found[1]}


@pytest.fixture
def kept() -> list[Line]:
    return []


@pytest.fixture
def visitor(kept):
    with RatingServer(questions_of([OLD], "Ada"), "Ada", kept.append) as server:
        yield Visitor(server)


def test_a_person_rates_all_items_and_ends(visitor, kept):
    path = visitor.base.path
    _, text, _ = visitor.ask("GET", path)
    assert "1 of 3, rated by Ada" in text
    assert "What is &lt;b&gt;known&lt;/b&gt;?" in text  # text of others is text
    assert "guided" not in text  # nobody is told who made it
    for number, marks in enumerate(((5, 4, 3), (1, 1, 1), (2, 3, 4)), 1):
        form = visitor.form(text) | dict(zip(("relevance", "verifiability", "clarity"), map(str, marks), strict=True))
        status, _, path = visitor.ask("POST", f"{visitor.base.path}{number}", form | {"note": "fine\n"})
        assert status == 303
        _, text, _ = visitor.ask("GET", path)
    assert [(line.item, line.relevance, line.verifiability, line.clarity) for line in kept] == [
        ("k1", 5, 4, 3),
        ("k2", 1, 1, 1),
        ("r1", 2, 3, 4),
    ]
    assert {line.protocol for line in kept} == {OLD.digest}
    assert kept[0].note == "fine"
    assert "3 of 3 items are rated" in text
    _, again, _ = visitor.ask("GET", f"{visitor.base.path}1")
    assert 'name="relevance" value="5" checked' in again
    visitor.ask("POST", f"{visitor.base.path}end", visitor.form(text))
    assert visitor.server.done.is_set()


def test_nobody_else_gets_in(visitor, kept):
    path = visitor.base.path
    _, text, _ = visitor.ask("GET", path)
    good = visitor.form(text) | {"relevance": "5"}
    assert visitor.ask("GET", "/")[0] == 404
    assert visitor.ask("GET", "/guess/1")[0] == 404
    assert visitor.ask("GET", f"{path}9")[0] == 404
    assert visitor.ask("GET", path, Host="evil.example")[0] == 404  # a name that was made to point here
    assert visitor.ask("POST", f"{path}1", good, Origin="https://evil.example")[0] == 403
    assert visitor.ask("POST", f"{path}1", {"relevance": "5"})[0] == 400
    assert visitor.ask("POST", f"{path}1", good | {"form": "guess"})[0] == 400
    assert visitor.ask("POST", f"{path}1", good | {"relevance": "9"})[0] == 400
    assert visitor.ask("POST", f"{path}1", good | {"note": "x" * 30_000})[0] == 413
    assert not kept
    assert visitor.ask("POST", f"{path}1", good, Origin=f"http://{visitor.server.host}")[0] == 303
    assert len(kept) == 1


def test_the_page_loads_nothing_from_anywhere(visitor):
    _, text, _ = visitor.ask("GET", visitor.base.path)
    assert "<script" not in text
    assert not re.search(r'(?:src|href|action)="(?!/)', text)
    link = http.client.HTTPConnection(visitor.base.hostname or "", visitor.base.port, timeout=10)
    link.request("GET", visitor.base.path)
    policy = link.getresponse().headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert visitor.base.hostname == "127.0.0.1"


def test_an_item_may_be_left_out_and_a_rater_goes_on_where_they_stopped(kept):
    line = Line(item="k1", relevance=3, protocol=OLD.digest, rater="Ada")
    given = {(OLD.digest, "k1"): line}
    with RatingServer(questions_of([OLD], "Ada"), "Ada", kept.append, given=given) as server:
        visitor = Visitor(server)
        _, text, _ = visitor.ask("GET", visitor.base.path)
        assert "2 of 3" in text
        assert visitor.ask("POST", f"{visitor.base.path}2", visitor.form(text))[0] == 303
    assert not kept


# --- books and files -------------------------------------------------------------------------------------------------


def line(rater: str, item: str, *marks: int | None) -> Line:
    relevance, verifiability, clarity = marks
    return Line(
        item=item, relevance=relevance, verifiability=verifiability, clarity=clarity, protocol=OLD.digest, rater=rater
    )


def test_means_and_agreement():
    lines = [line("a", "k1", 5, 4, 1), line("b", "k1", 5, 2, None), line("a", "k2", 1, 2, 1), line("b", "k2", 1, 4, 3)]
    found = agreed([*lines, line("a", "k9", 1, 1, 1)], OLD)  # an item that it does not have
    assert found["relevance"].mean == 3.0
    assert found["relevance"].alpha == pytest.approx(1.0)
    assert found["verifiability"].alpha is not None
    assert found["verifiability"].alpha < 0
    assert (found["clarity"].mean, found["clarity"].items, found["clarity"].raters) == (1.5, 2, 2)
    assert agreed(lines[:1], OLD)["relevance"].alpha is None


def test_the_last_word_of_a_rater_counts(tmp_path):
    book = tmp_path / "book.jsonl"
    book.write_text(
        "".join(one.model_dump_json() + "\n" for one in (line("a", "k1", 1, 1, 1), line("a", "k1", 5, 5, 5)))
    )
    assert [one.relevance for one in load_ratings(book)] == [5]


def viewer_file(**changes: Any) -> dict[str, Any]:
    """What the viewer lets people download."""
    rating = {"item": "k1", "relevance": 4, "verifiability": None, "clarity": 2, "note": "short"}
    return {"schema": 1, "protocol": OLD.digest, "rater": "Bo", "ratings": [rating]} | changes


def test_the_viewers_file_is_taken_in_once(files, tmp_path, capsys):
    Path("bo.json").write_text(json.dumps(viewer_file(), indent=1))
    for expected in ("bo.json: 1 ratings taken in", "bo.json: 0 ratings taken in"):
        assert dream(["protocol", "rate", "old.json", "--read", "bo.json"]) == 0
        text = capsys.readouterr().out
        assert expected in text
        assert "relevance      4.00 of 5 over 1 items" in text
    assert len(Path("ratings.jsonl").read_text().splitlines()) == 1
    assert dream(["protocol", "rate", "new.json", "--read", "bo.json"]) == 2
    assert "rates none of these protocols" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("nope", r":1: not a JSON object"),
        (json.dumps(viewer_file(schema=2)), "schema"),
        (json.dumps(viewer_file(protocol="short")), "protocol"),
        (json.dumps(viewer_file(ratings=[{"item": "k1", "relevance": 6}])), r"ratings\.0\.relevance"),
        ('{"item": "k1", "protocol": "' + "a" * 64 + '", "rater": ""}', r":1.*rater"),
    ],
)
def test_a_broken_file_is_named(content, says, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(content)
    with pytest.raises(InputError, match=says):
        load_ratings(path)


def test_rating_in_the_terminal(files, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("5 4 3\nhello\n0 0 0\n1 0 2\nq\n"))
    assert dream(["protocol", "rate", "old.json", "--rater", "Ada", "--terminal"]) == 0
    text = capsys.readouterr().out
    assert "three numbers from 0 to 5" in text
    lines = [(one.item, one.relevance, one.verifiability, one.clarity) for one in load_ratings(Path("ratings.jsonl"))]
    assert lines == [("k1", 5, 4, 3), ("r1", 1, None, 2)]
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    dream(["protocol", "rate", "old.json", "--rater", "Ada", "--terminal"])
    assert "2 of 3" in capsys.readouterr().out  # what is rated is not asked again
    assert dream(["protocol", "rate", "old.json", "--terminal"]) == 2
    assert "--rater" in capsys.readouterr().err


def test_several_protocols_are_mixed_in_an_order_of_the_raters_own():
    ada, again, bo = (questions_of([OLD, NEW], rater) for rater in ("Ada", "Ada", "Bo"))
    places = [[question.place for question in one] for one in (ada, again, bo)]
    assert places[0] == places[1] != places[2]
    assert sorted(places[0]) == sorted(places[2])
    assert [question.item.id for question in questions_of([OLD], "Ada")] == ["k1", "k2", "r1"]


# --- the study -------------------------------------------------------------------------------------------------------

PLAN = {"extract": "figures", "lookup": "Lindow barrage", "where": "web", "cross_check": "compare", "against": "other"}


def draft(*questions: str) -> dict[str, Any]:
    keys = [{"fact": q, "question": q, "time_sensitive": False, "sources": []} for q in questions]
    opens = ["How does it weigh cost against power?", "Why should a reader believe its figures?"]
    return {
        "key_questions": keys,
        "reasoning_questions": [{"question": text, "rationale": "", "plan": PLAN} for text in opens],
    }


GOOD = (
    "Does the report state that ships pass a lock?",
    "Does the report name the engineers of the powerhouse?",
    "Does the report state what electricity sells for?",
    "Does the report mention migrating salmon?",
)


@pytest.fixture
def three_ways(world: ScriptedChat):
    """The small world's judge, who also drafts from memory."""
    with ScriptedChat() as chat:
        chat.on(
            lambda body: "You cannot look anything up" in prompt(body),
            lambda body: f"I answer.\n<code>\nfinal_answer({draft(*GOOD)!r})\n</code>",
        )
        chat.on(lambda body: "This is wrong with it" in last_user(body), draft(*GOOD))
        chat.on(lambda body: "From what you know, write" in last_user(body), draft(*GOOD[:3], GOOD[0]))
        chat._rules.extend(world._rules)
        yield chat


@pytest.mark.parametrize("mode", [Mode.AGENT, Mode.GUIDED])
async def test_only_retrieval_gives_evidence(mode, three_ways, setup_for, tmp_path):
    task = Task(id="t", prompt="What is known about the Lindow barrage?")
    ways = protocol_study.WAYS if mode is Mode.AGENT else ("static", "alone")
    async with open_bench(setup_for(three_ways, mode=mode), "study") as bench:
        sheet = await protocol_study.run(bench, task, ways, [], tmp_path / "out")
    rows = {row[0]: row for row in sheet.tables[0].rows}
    assert rows["model alone"][1] == 3  # the repeated question is left out
    assert rows["agent, no retrieval"][1] == 4  # it was told, and repaired it
    assert rows["agent, no retrieval"][4] == rows["model alone"][4] == "0 %"
    made = load_protocol(tmp_path / "out/data/alone.json")
    assert made.flags[0] == "no_retrieval"
    assert made.maker.tools == ()
    assert any("no_provenance 4" in finding for finding in sheet.findings)
    assert any("model alone" in finding and "no_provenance 3" in finding for finding in sheet.findings)
    assert "Nobody has rated them yet" in sheet.findings[-1]
    if mode is Mode.AGENT:
        assert rows["agent, retrieval"][4] == "67 %"  # four of six rest on pages
        assert rows["agent, retrieval"][5] == "2025-06-01"
    lines = [Line(item="k1", relevance=n, clarity=4, protocol=made.digest, rater=f"r{n}") for n in (2, 4)]
    async with open_bench(setup_for(three_ways, mode=mode), "study") as bench:
        rated = await protocol_study.run(bench, task, ways, lines, tmp_path / "again")
    assert rated.tables[1].rows[0][:2] == ("agent, no retrieval", 2)
    assert str(rated.tables[1].rows[0][2]).startswith("3.00")
    assert rated.known[0].ours == "agent, no retrieval 3.50"


async def test_a_way_that_fails_is_said_and_the_others_stand(world, setup_for, tmp_path):
    task = Task(id="t", prompt="What is known about the Lindow barrage?")
    with ScriptedChat() as chat:
        chat.on(lambda body: "From what you know, write" in prompt(body), "no JSON")
        chat._rules.extend(world._rules)
        async with open_bench(setup_for(chat), "study") as bench:
            sheet = await protocol_study.run(bench, task, ("static", "retrieval"), [], tmp_path / "out")
    assert sheet.findings[0].startswith("model alone: no protocol (")
    assert [row[0] for row in sheet.tables[0].rows] == ["agent, retrieval"]


def test_the_command_plans(chat, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert dream(["study", "protocols", "--plan", "--judge", chat.judge]) == 0
    assert "3 units" in capsys.readouterr().out
    assert dream(["study", "protocols", "--ways", "magic"]) == 2
    assert "choose among static, alone, retrieval" in capsys.readouterr().err
    assert not chat.requests
