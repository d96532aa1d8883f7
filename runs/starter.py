"""A first ``eval.toml``: it runs as it is, on the demo's files, and says which lines to change."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import UserError
from .faults import demo_folder
from .files import write_atomic

TEMPLATE = """\
# What `dream run` is asked for. It runs as it is, on the demo's files, without a key.
# Change the lines marked with <<< to evaluate your own systems. Paths are relative to this file.
# Every key is an option of `dream run` too: dream run --repeats 3 --metrics wq,kic

name = "first"                     # the run's folder: dream-runs/first
tasks = {tasks}  # <<< your tasks: JSONL with id and prompt

judges = ["local"]                 # <<< such as ["openai/gpt-5-mini", "anthropic/claude-haiku-4-5"]; the first one
                                   #     makes protocols and claim lists, which all judges share
metrics = ["dream"]                # wq, kic, rq, factuality, ci, da; or groups: dream, dre, drb
repeats = 1                        # how often each judge judges everything

search = [{corpus}]  # <<< ["ddgs:duckduckgo,brave,mojeek"], ["searxng:URL"], ["tavily"] …
# exclude_hosts = ["example.com"]  # never evidence
# as_of = 2025-06-30               # judge as of this day; default: the tasks' date, else the day of the first start

# protocols = ["protocols/"]       # use these instead of making them
# rubrics = ["criteria.jsonl"]     # for dre_quality and race
# reference = "sound"              # for race: the system (or a file) that the others are held against

max_claims = 8                     # the most important claims of a report; leave it out to check all
questions = 8                      # yes/no questions of a protocol that is made
reasoning = 3                      # its reasoning questions
# concurrency = 16                 # calls at once to one endpoint
# budget_usd = 5.0                 # the whole run, resumed parts included
# budget_tokens = 2_000_000

floor = 0.9                        # least share of units scored; below it the run ends with code 6

[systems]                          # <<< name = a file, a folder or a list of them
sound = {sound}
flawed = {flawed}
uncited = {uncited}

# [fail_under]                     # exit with code 10 when a system scores less
# factuality = 80
"""


def write_starter(path: Path) -> Path:
    """Write it; nothing is overwritten. Raises UserError, OSError."""
    if path.exists():
        raise UserError(f"{path}: is there already and is not overwritten: name another file")
    demo = demo_folder()
    names = {name: demo / f"{name}.md" for name in ("sound", "flawed", "uncited")}
    values = {name: json.dumps(str(place), ensure_ascii=False) for name, place in names.items()}
    tasks = json.dumps(str(demo / "task.jsonl"), ensure_ascii=False)
    corpus = json.dumps(f"corpus:{demo / 'corpus'}", ensure_ascii=False)
    write_atomic(path, TEMPLATE.format(tasks=tasks, corpus=corpus, **values))
    return path
