"""What a model call used, read from its reply: chat completions, responses and embeddings, whole or streamed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...ledger import Reserve, Usage
from ...models import Price, count_tokens

UNSTATED_OUTPUT = 16_384
"""Tokens of output that are reserved against a budget when a request sets no limit."""
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_RUNNING = ("queued", "in_progress")


def reserve_for(request: Mapping[str, Any], text: str, price: Price | None, *, writes: bool) -> Reserve:
    """An upper bound of what a request can use. ``writes``: the model answers in text (embeddings do not)."""
    prompt = count_tokens(text)
    limit = next((request[name] for name in _LIMITS if _whole(request.get(name)) is not None), UNSTATED_OUTPUT)
    new = limit * max(1, _whole(request.get("n")) or 1) if writes else 0
    return Reserve(prompt + new, price.cost(prompt, 0, new) if price else None)


def events_of(text: str) -> Iterable[dict[str, Any]]:
    """The JSON objects of a stream of server-sent events."""
    for line in text.splitlines():
        if line.startswith("data:"):
            value = _object(line[5:])
            if value is not None:
                yield value


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_usage(text: str, *, streamed: bool, asked: str | None, price: Price | None) -> Usage:
    """What a successful call used. ``asked``: the request's text; None: what the reply does not say is nothing.

    Where the reply does not say, tokens are estimated as an upper bound from both texts and the cost is unknown,
    unless the endpoint is free. A response that is still being worked on has used nothing yet.
    """
    values = list(events_of(text)) if streamed else [value for value in (_object(text),) if value is not None]
    for value in reversed(values):
        inner = value.get("response")
        holder = inner if isinstance(inner, dict) else value
        if holder.get("status") in _RUNNING and not streamed:
            return Usage()
        told = holder.get("usage")
        if isinstance(told, dict) and (usage := _told(told, price)) is not None:
            return usage
    if asked is None:
        return Usage()
    free = price is not None and price.cost(1, 0, 1) == 0
    return Usage(
        prompt_tokens=count_tokens(asked), completion_tokens=count_tokens(text), cost_usd=0.0 if free else None
    )


def _told(told: Mapping[str, Any], price: Price | None) -> Usage | None:
    prompt = _first(told, "prompt_tokens", "input_tokens")
    if prompt is None:
        return None
    new = _first(told, "completion_tokens", "output_tokens") or 0
    details = told.get("prompt_tokens_details") or told.get("input_tokens_details")
    cached = min(prompt, _first(details, "cached_tokens") or 0) if isinstance(details, dict) else 0
    cost = price.cost(prompt, cached, new) if price else _dollars(told.get("cost"))
    return Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=new, cost_usd=cost)


def _first(holder: Mapping[str, Any], *names: str) -> int | None:
    return next((found for name in names if (found := _whole(holder.get(name))) is not None), None)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _dollars(value: object) -> float | None:
    """The cost as the endpoint says it, US dollars (OpenRouter: a number, Perplexity: parts with their total)."""
    if isinstance(value, dict):
        value = value.get("total_cost")
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6
    return float(value) if sound else None  # type: ignore[arg-type]
