"""The language of a job goes along with its searches, guided ones too."""

from dream_eval.agents.guided import Guide
from dream_eval.agents.shelf import Shelf
from dream_eval.core import AsOf
from dream_eval.tools import open_toolbox
from outside import DAY, LIMITS, ends
from servers.search import query_of, searxng_reply
from servers.web import web_server


async def test_guided_research(model, ledger):
    as_of = AsOf(day=DAY)
    async with web_server({"/search": searxng_reply([])}) as server:
        search = [f"searxng:{server.url}"]
        async with open_toolbox(ledger, as_of=as_of, limits=LIMITS, endpoints=ends(server), search=search) as toolbox:
            guide = Guide(model, toolbox, Shelf(as_of, "de-AT"))
            await guide.research(["Wien", "Graz"], 1)
    assert [(query_of(seen)["q"], query_of(seen)["language"]) for seen in server.seen] == [
        ("Wien", "de-AT"),
        ("Graz", "de-AT"),
    ]
