"""Persona-driven task construction: research tasks that need a search, made by a judge, checked by code and people."""

from .account import Account, CellAccount, Spread
from .data import Candidate, Cell, Fate, Lost, Necessity, Persona, Qualification, Shortfall
from .estimate import Plan, Stage, plan
from .generate import Generated, Watch, generate, told
from .languages import known_languages
from .order import DOMAINS, Order, order_of
from .review import Review, Sheet, read_sheets, review, write_sheets
from .sentinels import FilterCheck, Sentinel, Watched, sentinels_of

__all__ = [
    "DOMAINS",
    "Account",
    "Candidate",
    "Cell",
    "CellAccount",
    "Fate",
    "FilterCheck",
    "Generated",
    "Lost",
    "Necessity",
    "Order",
    "Persona",
    "Plan",
    "Qualification",
    "Review",
    "Sentinel",
    "Sheet",
    "Shortfall",
    "Spread",
    "Stage",
    "Watch",
    "Watched",
    "generate",
    "known_languages",
    "order_of",
    "plan",
    "read_sheets",
    "review",
    "sentinels_of",
    "told",
    "write_sheets",
]
