"""Reading what an endpoint sent: text, end, usage, log-probabilities, in whatever shape it came."""

from __future__ import annotations

from typing import Any

from ..core import Json
from ..ledger import Answer, Usage
from .counting import PER_MESSAGE, count_tokens
from .faults import Failed, Fault, Trouble
from .prices import Price


def read_reply(data: dict[str, Any], sent: dict[str, Any], price: Price | None) -> Answer:
    """The answer to record. Failed: transient when there is no reply in it, refused when a filter took it away."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    if choice is None:
        raise Failed(Trouble(Fault.TRANSIENT, "the endpoint sent no choices"))
    found = choice.get("message")
    message: dict[str, Any] = found if isinstance(found, dict) else {}
    text, finish = _text(message.get("content")), str(choice.get("finish_reason") or "stop")
    if finish == "content_filter" or (message.get("refusal") and not text):
        raise Failed(Trouble(Fault.REFUSED, "the reply was withheld (filter or refusal)", code="content_filter"))
    usage, estimated = read_usage(data, sent, text, price)
    body: dict[str, Json] = {"text": text, "finish": finish}
    logprobs = read_logprobs(choice)
    if logprobs:
        body["logprobs"] = dict(logprobs)
    if estimated:
        body["usage_estimated"] = True
    return Answer(body, usage=usage)


def _text(content: object) -> str:
    """The text of a message; some endpoints send a list of parts."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def read_usage(data: dict[str, Any], sent: dict[str, Any], text: str, price: Price | None) -> tuple[Usage, bool]:
    """What the call used, and whether it had to be estimated. A missing usage is estimated from the text (an upper
    bound) and its cost is unknown, unless the endpoint is free."""
    usage = data.get("usage")
    told: dict[str, Any] = usage if isinstance(usage, dict) else {}
    prompt, completion = _whole(told.get("prompt_tokens")), _whole(told.get("completion_tokens"))
    if prompt is None or completion is None:
        prompt = sum(count_tokens(str(m["content"])) + PER_MESSAGE for m in sent["messages"])
        free = price is not None and price.cost(1, 0, 1) == 0
        cost = 0.0 if free else None
        return Usage(prompt_tokens=prompt, completion_tokens=count_tokens(text), cost_usd=cost), True
    cached = min(prompt, _cached(told, data))
    paid = price.cost(prompt, cached, completion) if price else _told_cost(told)
    return Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion, cost_usd=paid), False


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _cached(usage: dict[str, Any], data: dict[str, Any]) -> int:
    details, timings = usage.get("prompt_tokens_details"), data.get("timings")
    places = (
        details.get("cached_tokens") if isinstance(details, dict) else None,
        usage.get("prompt_cache_hit_tokens"),
        timings.get("cache_n") if isinstance(timings, dict) else None,
    )
    return next((found for place in places if (found := _whole(place)) is not None), 0)


def _told_cost(usage: dict[str, Any]) -> float | None:
    """The cost as the endpoint says it (OpenRouter does, in US dollars)."""
    cost = usage.get("cost")
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e6:
        return float(cost)
    return None


def read_logprobs(choice: dict[str, Any]) -> dict[str, float]:
    """Log-probabilities of the alternatives of the first token; empty when none were sent."""
    try:
        first = choice["logprobs"]["content"][0]["top_logprobs"]
        return {str(item["token"]): float(item["logprob"]) for item in first}
    except (KeyError, IndexError, TypeError, ValueError):
        return {}
