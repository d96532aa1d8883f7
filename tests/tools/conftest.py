"""A toolbox over local servers."""

from contextlib import asynccontextmanager

import pytest
from dream_eval.core import AsOf
from dream_eval.ledger import Ledger
from dream_eval.tools import open_toolbox
from outside import DAY, LIMITS, ends


@pytest.fixture
def ledger():
    with Ledger.open(None, run="test") as found:
        yield found


@pytest.fixture
def box(ledger):
    """``async with box(server, …) as toolbox``."""

    @asynccontextmanager
    async def make(server, *, day=DAY, given=True, limits=LIMITS, ledger=ledger, endpoints=None, **options):
        options.setdefault("search", ["ddgs:duckduckgo"])
        as_of = AsOf(day=day, given=given)
        endpoints = endpoints or ends(server)
        async with open_toolbox(ledger, as_of=as_of, limits=limits, endpoints=endpoints, **options) as toolbox:
            yield toolbox

    return make
