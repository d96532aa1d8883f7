"""From what is asked to what ``run.json`` says, to the inputs in the run folder, and to the work."""

from __future__ import annotations

import datetime as dt
import os
import secrets as random_names
from collections.abc import Iterable

from pydantic import TypeAdapter

from ..agents.prompts_creator import VERSION as CREATOR_VERSION
from ..core import AsOf, Json
from ..evaluators import CLAIMS_VERSION, VERSIONS, Settings
from ..evaluators.rubrics import RUBRICS_VERSION
from ..models import is_local, parse_judge
from ..protocols.rubric import Rubric
from ..protocols.schema import Mode, Protocol
from . import checked
from .ask import Ask, default_ledger, search_identity
from .cases import CaseRef, Sources
from .data import ReportRef, RunConfig
from .files import slug
from .kept import report_file
from .names import names_of
from .store import RunFolder
from .units import Conditions
from .work import Work


def configure(ask: Ask, before: RunConfig | None, name: str) -> RunConfig:
    """What ``run.json`` will say: the run's name and its start date are those of the first start (``before``).

    ``name``: of the folder, which the name of a new run begins with.
    """
    judges = tuple(shown_name(judge) for judge in ask.judges)
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    started = before.as_of if before is not None and not before.as_of.given else AsOf(day=now.date(), given=False)
    as_of = AsOf(day=ask.as_of) if ask.as_of else started
    if before is not None:
        checked.same_part(ask.shard, before.shard)
        checked.protocols_in_time(as_of.day, ask.protocols)  # a run goes on as of its first day
    return RunConfig(
        run=before.run if before else f"{slug(name)}-{random_names.token_hex(4)}",
        version=_version(),
        created_at=before.created_at if before else now,
        as_of=as_of,
        tasks=tuple({case.task.id: case.task for case in ask.cases}.values()),
        reports=_refs(ask.cases),
        judges=judges,
        endpoints={name: place for name, place in before.endpoints.items() if name in judges} if before else {},
        repeats=ask.repeats,
        shard=ask.shard,
        metrics=ask.metrics,
        versions={metric: VERSIONS[metric] for metric in ask.metrics},
        search=ask.search,
        search_digests=tuple(search_identity(entry) for entry in ask.search),
        exclude_hosts=ask.exclude_hosts,
        mode=ask.mode,
        questions=ask.questions,
        reasoning=ask.reasoning,
        max_claims=ask.max_claims,
        protocols={task: protocol.digest for task, protocol in _given(ask).items()},
        rubrics={"/".join(place): rubric.digest for place, rubric in _given_rubrics(ask).items()},
        reference=ask.reference,
        references=_refs(_references(ask)),
        ledger=str((ask.ledger or default_ledger()).resolve()),
        budget_usd=ask.budget_usd,
        budget_tokens=ask.budget_tokens,
        floor=ask.floor,
        command=ask.command,
    )


def shown_name(judge: str) -> str:
    """The name under which results of a judge are stored, as far as it is known before the judge is opened."""
    if not is_local(judge):
        return parse_judge(judge).name
    return f"{judge} (DREAM_LOCAL_MODEL)" if os.environ.get("DREAM_LOCAL_MODEL") else judge


def save_inputs(ask: Ask, folder: RunFolder, config: RunConfig, before: RunConfig | None) -> None:
    """Write ``run.json`` and what was given: reports (read one at a time), protocols, rubrics.

    A copy that an earlier start wrote of the same report is left as it is. Raises UserError, OSError.
    """
    if before is None:  # the mark of a run folder; later, a copy must be there before run.json speaks of it
        folder.save("run.json", config)
    known = {(ref.file, ref.digest) for ref in (*before.reports, *before.references)} if before is not None else set()
    _save_reports(ask.sources, ask.mine, folder, known)
    _save_reports(ask.references, ask.reference_cases, folder, known)
    for protocol in ask.protocols:
        folder.save(f"protocols/given-{protocol.digest[:12]}.json", protocol)
    for rubric in ask.rubrics:
        folder.save(f"rubrics/given-{rubric.digest[:12]}.json", rubric)
    if before is not None and config != before:
        folder.save("run.json", config)


def _save_reports(sources: Sources, cases: tuple[CaseRef, ...], folder: RunFolder, known: set[tuple[str, str]]) -> None:
    missing = {
        case.place
        for case in cases
        if (_name(case), case.digest) not in known or not (folder.path / report_file(case)).exists()
    }
    if not missing:
        return
    for case, report in sources.again(cases):
        if case.place in missing:
            folder.save(report_file(case), report)


def work_of(ask: Ask, config: RunConfig, *, afresh: bool = False) -> Work:
    """What is to be done, under the configuration's names and dates."""
    settings = Settings(mode=verifier_mode(ask), max_claims=ask.max_claims)
    conditions = Conditions(
        as_of=config.as_of,
        mode=settings.mode,
        search=config.search_digests,
        exclude_hosts=config.exclude_hosts,
        settings=settings_of(settings),
        versions=config.versions,
    )
    return Work(
        cases=ask.mine,
        names=names_of(case.place for case in ask.cases),
        metrics=ask.metrics,
        judges=config.judges,
        conditions=conditions,
        settings=settings,
        creator=ask.mode,
        questions=ask.questions,
        reasoning=ask.reasoning,
        max_claims=ask.max_claims,
        claims_version=CLAIMS_VERSION,
        protocol_version=CREATOR_VERSION,
        rubric_version=RUBRICS_VERSION,
        repeats=ask.repeats,
        protocols=_given(ask),
        rubrics=_given_rubrics(ask),
        references={case.task.id: case for case in _references(ask)},
        afresh=afresh,
    )


def settings_of(settings: Settings) -> dict[str, Json]:
    """The evaluators' settings as they enter unit keys."""
    values: dict[str, Json] = TypeAdapter(Settings).dump_python(settings, mode="json")
    return {name: value for name, value in values.items() if name not in ("mode", "max_claims")}


def verifier_mode(ask: Ask) -> Mode:
    """The static mode makes protocols only; their plans are carried out in the judge's default mode."""
    if ask.mode is not Mode.STATIC:
        return ask.mode
    return Mode.GUIDED if ask.embedded else Mode.AGENT


def _refs(cases: Iterable[CaseRef]) -> tuple[ReportRef, ...]:
    return tuple(ReportRef(id=case.system, task=case.task.id, digest=case.digest, file=_name(case)) for case in cases)


def _name(case: CaseRef) -> str:
    return report_file(case).removeprefix("reports/")


def _references(ask: Ask) -> tuple[CaseRef, ...]:
    return ask.reference_cases or tuple(case for case in ask.cases if case.system == ask.reference)


def _given(ask: Ask) -> dict[str, Protocol]:
    """Given protocols by the tasks of the run; ids may differ, the query may not."""
    by_prompt = {_same(protocol.task.prompt): protocol for protocol in ask.protocols}
    return {c.task.id: by_prompt[_same(c.task.prompt)] for c in ask.cases if _same(c.task.prompt) in by_prompt}


def _given_rubrics(ask: Ask) -> dict[tuple[str, str], Rubric]:
    found: dict[tuple[str, str], Rubric] = {}
    for rubric in ask.rubrics:
        prompt = _same(rubric.task.prompt)
        found |= {(c.task.id, rubric.kind): rubric for c in ask.cases if _same(c.task.prompt) == prompt}
    return found


def _same(prompt: str) -> str:
    return " ".join(prompt.split())


def _version() -> str:
    from dream_eval import __version__

    return __version__
