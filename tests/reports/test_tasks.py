# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Task files and joining."""

import datetime as dt

import pytest
from dream_eval.core import Task
from dream_eval.errors import InputError
from dream_eval.reports import join, load_tasks, read_report, search_language

TASKS = [
    Task(id="1", prompt="How did it grow?"),
    Task(id="2", prompt="Why did it fall?"),
    Task(id="a/b", prompt="What now?"),
]


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


SHAPES = {
    "q.jsonl": '{"id": 1, "prompt": "How?", "language": "en", "topic": "T", "as_of": "2026-05-01"}\n',
    "own.json": '[{"id": "1", "prompt": "How?", "language": "en", "topic": "T", "as_of": "2026-05-01"}]',
    "researcher.json": '[{"id": 1, "question": "How?", "language": "en", "topic": "T", "as_of": "2026-05-01"}]',
    "miro.json": '[{"id": 1, "rewritten_query": "How?", "language": "en", "topic": "T", "as_of": "2026-05-01"}]',
    "rubrics.jsonl": '{"sample_id": "1", "prompt": "How?", "language": "en", "domain": "T", "as_of": "2026-05-01"}\n',
    "dre.jsonl": '{"task_id": "1", "domain": "T", "query": {"deep_research_query": "How?"}, "language": "en", "as_of": "2026-05-01"}\n',
    "smith.json": '{"examples": [{"id": "1", "inputs": {"question": "How?"}, "language": "en", "topic": "T", "as_of": "2026-05-01"}]}',
    "live.csv": "qid,question,language,topic,as_of\n1,How?,en,T,2026-05-01\n",
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(tmp_path, name):
    assert load_tasks(write(tmp_path, name, SHAPES[name])) == [
        Task(id="1", prompt="How?", language="en", topic="T", as_of=dt.date(2026, 5, 1))
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (
            '{"id": 1, "prompt": "a"}\n{"id": 1, "prompt": "b"}\n',
            r":2 \(id\): the id '1' is there twice \(first on line 1\)",
        ),
        ('{"id": 1}\n', r":1 \(prompt\)"),
        ('{"id": 1, "prompt": " "}\n', r":1 \(prompt\)"),
        ('{"prompt": "a"}\n', r":1 \(id\)"),
        ('{"id": 1, "prompt": "a", "as_of": "soon"}\n', r":1 \(as_of\): 'soon' is no date"),
        ("{", "not JSON"),
    ],
)
def test_what_cannot_be_used(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        load_tasks(write(tmp_path, "q.jsonl", text))


@pytest.mark.parametrize(
    ("more", "task"),
    [
        ({"id": "sys", "task_id": "1"}, "1"),
        ({"id": "sys", "task_id": "1", "prompt": "How did it  grow"}, "1"),
        ({"id": "2"}, "2"),
        ({"id": "folder/2"}, "2"),
        ({"id": "sys", "prompt": "WHY did it fall?"}, "2"),
        ({"id": "sys", "task_id": "unknown", "prompt": "Why did it fall?"}, "2"),
        ({"id": "a/b"}, "a/b"),
    ],
)
def test_join(more, task):
    ((found, report),) = join([read_report("It grew.", **more)], TASKS)
    assert found.id == task
    assert report.id == more["id"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"id": "sys", "task_id": "1", "prompt": "Why did it fall?"}, ["How did it grow?", "Why did it fall?", "'1'"]),
        ({"id": "sys", "task_id": "9"}, ["sys", "9", "3 tasks"]),
        ({"id": "sys", "prompt": "Who?"}, ["sys", "Who?"]),
        ({"id": "sys"}, ["sys"]),
    ],
)
def test_a_mismatch_shows_both(more, words):
    with pytest.raises(InputError) as caught:
        join([read_report("It grew.", **more)], TASKS)
    assert all(word in str(caught.value) for word in words)


def test_one_prompt_of_two_tasks():
    tasks = [Task(id="1", prompt="How?"), Task(id="2", prompt="how")]
    with pytest.raises(InputError, match="several tasks"):
        join([read_report("It grew.", id="sys", prompt="How?")], tasks)


def test_public_tasks(shared_data):
    tasks = load_tasks(shared_data / "drb" / "query.jsonl")
    assert len(tasks) == 100
    assert (tasks[50].id, tasks[50].language) == ("51", "en")
    assert tasks[50].prompt.startswith("From 2020 to 2050, how many elderly people will there be in Japan?")
    assert len(load_tasks(shared_data / "dre" / "query.jsonl")) == 100


@pytest.mark.parametrize(
    ("language", "prompt", "text", "tag"),
    [
        ("de-AT", "Was kostet es?", "de", "de-AT"),
        ("de-AT", "Was kostet es?", "zh", "zh"),
        ("de-AT", "Was kostet es?", None, "de-AT"),
        (None, "潮汐发电站的成本是多少？", None, "zh"),
        (None, "12", "en", "en"),
        (None, "12", None, None),
    ],
)
def test_the_language_of_searches(language, prompt, text, tag):
    assert search_language(Task(id="t", prompt=prompt, language=language), text) == tag


def test_half_characters_in_tasks_are_replaced(tmp_path):
    (task,) = load_tasks(write(tmp_path, "t.jsonl", r'{"id": "a\ud800", "prompt": "Q \ud800?"}'))
    assert (task.id, task.prompt) == ("a\ufffd", "Q \ufffd?")
    task.model_dump_json()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('id,prompt\na,"unclosed', 2),
        ('id,prompt\n1,"one\nand two"\n2,"three\n3,four\n', 4),
        ('id,prompt\na,"one" more\n', 2),
        ('id,"prompt\na,b\n', 1),
        ("id,prompt\na," + "x" * 200_000, 2),
    ],
)
def test_broken_csv_is_refused_with_its_line(tmp_path, text, line):
    with pytest.raises(InputError, match="not CSV") as caught:
        load_tasks(write(tmp_path, "t.csv", text))
    assert caught.value.line == line


def test_rows_of_csv_know_their_line(tmp_path):
    with pytest.raises(InputError, match="first on line 2") as caught:
        load_tasks(write(tmp_path, "t.csv", 'id,prompt\n1,"one\nand two"\n1,three\n'))
    assert caught.value.line == 4
