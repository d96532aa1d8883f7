"""The endpoint behind the proxy: a provider's name or an address, its key and its prices."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...errors import UserError
from ...models import PROVIDERS, Price, parse_judge
from ...models.describing import judge_price
from ...models.providers import Judge, Provider


@dataclass(frozen=True)
class Upstream:
    """Where calls go. ``key`` is put in where a command sends none of its own."""

    provider: Provider
    endpoint: str
    """In ledger keys: the address without its port."""
    key: str | None

    @property
    def base_url(self) -> str:
        """Without a slash at its end."""
        return self.provider.base_url.rstrip("/")

    @property
    def own(self) -> bool:
        """A server of the user's own: free, and reached without any proxy that the environment names."""
        return self.provider.free

    def price(self, model: str) -> Price | None:
        """What the model costs; None: unknown."""
        return judge_price(Judge(model, self.provider, model, self.endpoint))


def parse_upstream(name: str | None = None) -> Upstream:
    """Read ``openai``, another provider's name, or an address such as ``https://host/v1``; without one
    ``OPENAI_BASE_URL``, else OpenAI. UserError for what is neither."""
    told = os.environ.get("OPENAI_BASE_URL", "").strip()
    place = name or told or "openai"
    if "://" not in place:
        if place not in PROVIDERS:
            raise UserError(f"unknown upstream {place!r}: use one of {', '.join(sorted(PROVIDERS))}, or https://…/v1")
        place = PROVIDERS[place].base_url
    judge = parse_judge(f"{place.split('#')[0].rstrip('/')}#any")
    listed = next((one for one in PROVIDERS.values() if one.base_url == judge.provider.base_url), judge.provider)
    variables = [listed.key_variable, *(["OPENAI_API_KEY"] if not name and told else [])]
    keys = [os.environ.get(variable or "", "").strip() for variable in variables]
    return Upstream(listed, judge.endpoint, next((key for key in keys if key), None))


def is_asked_for(name: str | None) -> bool:
    """Whether a proxy is of use: an upstream is named, or the environment is set up for OpenAI's interface."""
    return bool(name) or any(os.environ.get(one, "").strip() for one in ("OPENAI_BASE_URL", "OPENAI_API_KEY"))
