"""``dream proxy``."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  dream proxy                       # then, elsewhere: OPENAI_BASE_URL=http://127.0.0.1:8790/v1 python my_agent.py
  dream proxy --upstream openrouter --run try-3 --budget-usd 2
  dream proxy --upstream http://localhost:8000/v1 --port 9000
  dream proxy --run try-3 --ledger-mode replay
\b
Passed on are chat/completions (streams too), completions, responses, embeddings and models.
dream ledger show lists what was recorded. Replay answers from the ledger alone: no key, no
network. Equal requests are told apart by their number since the proxy was started.
Exit codes: 0 ended with Ctrl-C, 2 usage, 4 budget reached.
"""


@click.command(epilog=EXAMPLES, short_help="Record a system's model calls on their way.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8_790, metavar="N", help="On 127.0.0.1 [default: 8790]")
@click.option(
    "--upstream", metavar="NAME|URL", help="A provider, or an address [default: OPENAI_BASE_URL, else openai]"
)
@click.option("--run", "name", default="proxy", metavar="NAME", help="The calls' name in the ledger [default: proxy]")
@click.option("--ledger", metavar="PATH", help="Ledger file [default: one a user]")
@click.option(
    "--ledger-mode", type=click.Choice(["cache", "refresh", "replay"]), default="cache", help="[default: cache]"
)
@click.option("--budget-usd", type=float, metavar="USD", help="Most to spend.")
@click.option("--budget-tokens", type=int, metavar="N", help="Most tokens.")
def command(
    port: int,
    upstream: str | None,
    name: str,
    ledger: str | None,
    ledger_mode: str,
    budget_usd: float | None,
    budget_tokens: int | None,
) -> int:
    """Pass OpenAI's interface on to an endpoint, and record every call in the ledger.

    For systems that you start yourself: dream collect starts a proxy of its own for each collection. Keys stay out of
    the ledger; where a program sends none (or the word dream-proxy), the provider's own from the environment is used.
    """
    from .proxying import serve_and_show

    return serve_and_show(
        *(port, upstream, name, ledger), mode=ledger_mode, budget_usd=budget_usd, budget_tokens=budget_tokens
    )
