"""A scripted judge that makes tasks, and an order for it."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from dream_eval.core import AsOf
from dream_eval.models import Limits
from dream_eval.tasks import Order, order_of
from dream_eval.tasks.sentinels import sentinels_of
from servers.chat import Body, ScriptedChat, last_user

DAY = dt.date(2026, 5, 1)
LIMITS = Limits(wait_scale=0, attempts=3)
SUBJECTS = """
    bus fares harbours ferries tram tunnels cycling lanes airports pilots drones parcels canals locks sleepers rail
    wages nurses vaccines clinics pharmacies dentists insulin hospices ambulances allergies surgery dialysis pollen
    elections ballots mayors senates treaties borders consulates petitions lobbying censuses juries statutes tariffs
    quotas subsidies pensions mortgages bonds coins vaults auctions franchises patents orchards vineyards dairies
""".split()  # noqa: SIM905
CHINESE = """
    公交 港口 轮渡 隧道 骑行 机场 飞行员 无人机 包裹 运河 铁路 工资 护士 疫苗
    诊所 药房 牙医 胰岛素 救护车 过敏 手术 透析 花粉 选举 市长 参议院 条约 边境
    领事馆 请愿 游说 普查 陪审团 关税 配额 补贴 养老金 抵押 债券 硬币 拍卖 专利
    果园 葡萄园 奶牛场 渔场 森林 矿山
""".split()  # noqa: SIM905
LANGUAGES = {"German": "de", "Chinese": "zh", "English": "en"}
TEXTS = {
    "en": "Compare how {a} and {b} developed from 2024 to 2026; deliver a table of the causes, and a forecast.",
    "de": "Vergleiche, wie sich {a} und {b} von 2024 bis 2026 entwickelt haben; liefere eine Tabelle der Ursachen.",
    "zh": "请比较2024年至2026年间{a}与{b}的发展情况，提交一份说明原因的表格，并给出明年的预测。",
}
BACKGROUND = {
    "en": "Has worked for years on the rules of the trade and must decide what to buy for the house.",
    "de": "Hat viele Jahre an den Regeln der Branche gearbeitet und muss entscheiden, was für das Haus gekauft wird.",
    "zh": "多年从事行业规则方面的工作，需要为单位决定采购什么设备。",
}
SURE = dict.fromkeys(("current", "sources", "depth", "fits"), "certain") | {"reason": "It needs research."}
UNSURE = {**SURE, "current": "no", "sources": "unlikely", "reason": "General knowledge."}
WEAK = {
    **dict.fromkeys(("accuracy", "depth", "timeliness"), "weak"),
    **dict.fromkeys(("professionalism", "structure"), "fair"),
    "reason": "Vague and out of date.",
}
FINE = {**dict.fromkeys(("accuracy", "depth", "timeliness", "professionalism", "structure"), "excellent"), "reason": ""}


def task_text(language: str, number: int) -> str:
    """A task that breaks no rule and repeats no other, for numbers below 24."""
    words = CHINESE if language == "zh" else SUBJECTS
    return TEXTS[language].format(a=words[number], b=words[-number - 1])


def draft(prompt: str) -> dict[str, Any]:
    return {
        "prompt": prompt,
        "challenges": "Sources differ.",
        "angles": ["rules", "prices"],
        "sources": ["law", "press"],
    }


def count_of(body: Body) -> int:
    """How many are asked for in the last message."""
    found = re.search(r"(?:Invent|Write) (\d+)", last_user(body))
    assert found, last_user(body)
    return int(found[1])


def language_in(body: Body) -> str:
    text = "\n".join(str(m["content"]) for m in body["messages"])
    return next(tag for name, tag in LANGUAGES.items() if f"in {name}" in text)


def first_user(body: Body) -> str:
    """The text of the first user message, which stays when a reply is to be mended or more is asked for."""
    return str(body["messages"][1]["content"])


def is_personas(body: Body) -> bool:
    return first_user(body).startswith("Invent")


def is_candidates(body: Body) -> bool:
    return "that this person would really give" in first_user(body)


def is_qualify(body: Body) -> bool:
    return "How sure are you of each statement" in last_user(body)


def is_answer(body: Body) -> bool:
    return "You cannot search." in last_user(body)


def is_judge(body: Body) -> bool:
    return "Rate the answer" in last_user(body)


EASY = [one.prompt for tag in LANGUAGES.values() for one in sentinels_of(tag, DAY) if one.kind == "easy"]


def is_easy(body: Body) -> bool:
    return any(prompt in last_user(body) for prompt in EASY)


class Author:
    """Writes personas and tasks, each task once."""

    def __init__(self) -> None:
        self.people = self.tasks = 0

    def personas(self, body: Body) -> dict[str, Any]:
        language = language_in(body)
        return {"items": [self._person(language) for _ in range(count_of(body))]}

    def candidates(self, body: Body) -> dict[str, Any]:
        language = language_in(body)
        return {"items": [draft(self.next(language)) for _ in range(count_of(body))]}

    def next(self, language: str) -> str:
        self.tasks += 1
        return task_text(language, self.tasks - 1)

    def _person(self, language: str) -> dict[str, str]:
        self.people += 1
        job = f"{SUBJECTS[-self.people]} {SUBJECTS[self.people]}"
        rest = {"affiliation": "company", "subfield": job, "background": BACKGROUND[language]}
        return {"name": f"Kim {self.people}", "role": f"Head of {job}", **rest}


def teach(server: ScriptedChat) -> ScriptedChat:
    """Rules of a judge that makes good tasks and sees through the easy sentinels."""
    author = Author()
    server.on(is_personas, author.personas)
    server.on(is_candidates, author.candidates)
    server.on(lambda body: is_qualify(body) and is_easy(body), UNSURE)
    server.on(is_qualify, SURE)
    server.on(is_answer, "From memory: it went up, mostly.")
    server.on(lambda body: is_judge(body) and is_easy(body), FINE)
    return server.on(is_judge, WEAK)


def order_for(chat: ScriptedChat, **wishes: Any) -> Order:
    """Two domains, two personas, two candidates, unless wished otherwise."""
    sizes = {"domains": "Health,Politics", "personas": 2, "candidates": 2}
    return order_of(judge=chat.judge, as_of=wishes.pop("as_of", AsOf(day=DAY)), **{**sizes, **wishes})
