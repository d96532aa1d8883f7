"""Which evaluator serves which metric: the table, and the check that what it needs is there.

===============  =========  ==========================  =======================================
metric           kind       needs                       evaluator
===============  =========  ==========================  =======================================
``wq``           llm        chat                        :func:`.wq.writing_quality`
``kic``          llm        chat                        :func:`.kic.key_information`
``rq``           agent      chat, search, pages, code*  :func:`.rq.reasoning_quality`
``factuality``   workflow   chat, search, pages         :func:`.factuality.factuality`
``ci``           workflow   chat, pages                 :func:`.citations.citation_integrity`
``da``           workflow   chat                        :func:`.authority.authoritativeness`
``dre_quality``  llm        chat                        :func:`.dre_quality.point_wise_quality`
``dre_facts``    agent      chat, search, pages, code*  :func:`.dre_facts.active_facts`
``race``         llm        chat                        :func:`.race.race`
``fact``         workflow   chat, pages                 :func:`.fact.fact`
===============  =========  ==========================  =======================================

\\* code: only in the mode ``agent``; ``guided`` serves RQ and the fact-checking without it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ..errors import HostStop, ReplayMiss, UserError
from ..models import ChatModel
from ..protocols.catalogue import METRICS, Ability, Metric
from ..protocols.schema import Mode
from ..tools import Toolbox
from . import authority, citations, dre_facts, dre_quality, fact, factuality, kic, race, rq, wq
from .base import FAILURES, Case, Results, Settings, reason_of
from .results import MetricResult

log = logging.getLogger("dream_eval.evaluators")

Evaluator = Callable[[Case, ChatModel, Toolbox, Settings], Awaitable[MetricResult]]

EVALUATORS: dict[str, tuple[Evaluator, int]] = {
    "wq": (wq.writing_quality, wq.VERSION),
    "kic": (kic.key_information, kic.VERSION),
    "rq": (rq.reasoning_quality, rq.VERSION),
    "factuality": (factuality.factuality, factuality.VERSION),
    "ci": (citations.citation_integrity, citations.VERSION),
    "da": (authority.authoritativeness, authority.VERSION),
    "dre_quality": (dre_quality.point_wise_quality, dre_quality.VERSION),
    "dre_facts": (dre_facts.active_facts, dre_facts.VERSION),
    "race": (race.race, race.VERSION),
    "fact": (fact.fact, fact.VERSION),
}
"""Metric to its evaluator and the version of its prompts and rules."""

VERSIONS: dict[str, int] = {name: version for name, (_, version) in EVALUATORS.items()}


@dataclass(frozen=True)
class Route:
    """How one metric will be served."""

    metric: str
    kind: str
    """``llm``, ``agent`` or ``workflow``."""
    needs: frozenset[Ability]
    """What it needs in this run."""


def route(metrics: Sequence[str], judge: ChatModel, toolbox: Toolbox, mode: Mode) -> tuple[Route, ...]:
    """A route for each metric, in the order given.

    Raises UserError that names the metric and what is missing when nothing can serve it.
    """
    del judge  # every judge can chat, and code is run by us
    have = {str(ability) for ability in toolbox.abilities} | {str(Ability.CHAT), str(Ability.CODE)}
    return tuple(_route(name, have, mode) for name in metrics)


def _route(name: str, have: set[str], mode: Mode) -> Route:
    metric = METRICS.get(name)
    if metric is None or name not in EVALUATORS:
        raise UserError(f"no metric is called {name!r}; there are {', '.join(METRICS)}")
    needs = _needs(metric, mode)
    missing = sorted(str(ability) for ability in needs if str(ability) not in have)
    if missing:
        raise UserError(f"nothing can serve {metric.title} ({name}): {' and '.join(missing)} missing")
    return Route(metric=name, kind=metric.kind, needs=needs)


def _needs(metric: Metric, mode: Mode) -> frozenset[Ability]:
    if metric.kind != "agent":
        return metric.needs
    if mode is Mode.STATIC:
        raise UserError(f"{metric.title} ({metric.name}) needs tools: use the mode agent or guided")
    return metric.needs | {Ability.CODE} if mode is Mode.AGENT else metric.needs


async def evaluate_metric(
    metric: str, case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings
) -> MetricResult:
    """One metric of one report by one judge.

    Never raises for a unit that fails: calls, agents, jobs out of time and our own mistakes end in a failed result with
    the reason. HostStop (but for a job's deadline), ReplayMiss and UserError propagate.
    """
    evaluator, version = EVALUATORS[metric]
    results = Results(metric, version)
    missing = _missing_input(metric, case)
    if missing:
        return results.failed(missing)
    try:
        return await evaluator(case, judge, toolbox, settings.fit(judge))
    except FAILURES as error:
        return results.failed(reason_of(error))
    except (HostStop, ReplayMiss, UserError):
        raise
    except Exception as error:
        log.exception("%s of %s failed inside", metric, case.report.id)
        return results.failed(reason_of(error))


def _missing_input(metric: str, case: Case) -> str:
    inputs = METRICS[metric].inputs
    if case.protocol is None and any(name.startswith("protocol.") for name in inputs):
        return "protocol_failed: no protocol"
    missing = {
        "claims": case.claims is None and "claims_failed: no claim list",
        "rubric": case.rubric is None and "rubric_failed: no rubric",
        "reference": case.reference is None and "no_reference: there is no report to compare with on this task",
    }
    return next((reason for name, reason in missing.items() if name in inputs and reason), "")
