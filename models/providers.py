"""Which providers there are, and how a judge's name is read."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..errors import UserError

LOCAL = "local"


@dataclass(frozen=True)
class Provider:
    """An OpenAI-compatible endpoint."""

    name: str
    base_url: str
    key_variable: str | None
    """Environment variable that holds the key; None: no key is sent."""
    context: int
    """Tokens; a cautious value for models that the price table does not list."""
    key_needed: bool = True
    max_tokens_name: str = "max_tokens"
    """What the endpoint calls the output limit."""
    free: bool = False
    """True for servers of the user's own: calls cost 0."""


def _hosted(name: str, base_url: str, key: str, context: int, max_tokens_name: str = "max_tokens") -> Provider:
    return Provider(name, base_url, key, context, max_tokens_name=max_tokens_name)


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        _hosted("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", 128_000, "max_completion_tokens"),
        _hosted("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", 32_000),
        _hosted("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", 200_000),
        _hosted("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", 1_000_000),
        _hosted("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", 32_000),
        _hosted("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", 64_000),
        _hosted("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", 32_000),
        _hosted("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", 32_000),
        _hosted("hf", "https://router.huggingface.co/v1", "HF_TOKEN", 32_000),
        Provider("ollama", "http://localhost:11434/v1", None, 4_096, key_needed=False, free=True),
        Provider("vllm", "http://localhost:8000/v1", "VLLM_API_KEY", 8_192, key_needed=False, free=True),
    )
}
"""The embedded judge, ``local``, is not in the table: its address is known once it runs."""

URL_KEY = "DREAM_API_KEY"
"""Variable with the key for judges named by a URL."""


@dataclass(frozen=True)
class Judge:
    """A judge's name, taken apart."""

    name: str
    """As shown and stored."""
    provider: Provider
    model: str
    endpoint: str
    """In ledger keys: the base URL without its port, so that a replay works with the server on another port.

    Two servers on one host with one model name are therefore one judge: their answers share a cache and a name in
    results. Where they differ (another quantisation, another template), the model names must tell them apart.
    """

    def key(self) -> str | None:
        """The key from the environment. UserError when it is needed and not set."""
        variable = self.provider.key_variable
        value = os.environ.get(variable, "").strip() if variable else ""
        if not value and variable and self.provider.key_needed:
            raise UserError(f"{self.name} needs a key in the environment variable {variable}")
        return value or None


def parse_judge(name: str) -> Judge:
    """Read ``provider/model``, or ``https://host/v1#model`` for an endpoint in full. UserError.

    The port belongs to the address that is called and not to the judge's name (see ``Judge.endpoint``).
    ``http://`` is for loopback and private addresses: a server of the user's own.
    """
    if "://" in name:
        return _parse_url(name)
    prefix, slash, model = name.partition("/")
    provider = PROVIDERS.get(prefix)
    if provider is None:
        known = ", ".join(sorted(PROVIDERS))
        raise UserError(f"unknown judge {name!r}: use local, PROVIDER/MODEL with one of {known}, or https://…/v1#MODEL")
    if not slash or not model:
        raise UserError(f"judge {name!r} names no model: write {prefix}/MODEL")
    return Judge(name, provider, model, provider.base_url)


def _parse_url(name: str) -> Judge:
    base, _, model = name.partition("#")
    parts = urlsplit(base)
    if not model:
        raise UserError(f"judge {name!r} names no model: write the base URL, then #MODEL")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"judge {name!r} is not an http(s) address")
    if parts.username or parts.password or parts.query:
        raise UserError(f"judge {base.split('@')[-1]!r}: put the key into {URL_KEY}, not into the address")
    own = is_own(parts.hostname)
    if parts.scheme == "http" and not own:
        raise UserError(f"judge {name!r}: a public host needs https")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    endpoint = f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
    provider = Provider(parts.hostname, base.rstrip("/"), URL_KEY, 8_192, key_needed=False, free=own)
    return Judge(f"{endpoint}#{model}", provider, model, endpoint)


def is_own(host: str) -> bool:
    """True for loopback and private addresses: a server of the user's own, free of charge."""
    if host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def default_judge() -> str:
    """The judge when none is named: ``DREAM_JUDGE``, else the embedded one. Never a paid one by itself."""
    return os.environ.get("DREAM_JUDGE", "").strip() or LOCAL


def known_keys() -> dict[str, bool]:
    """Each provider's key variable and whether it is set; never a value."""
    names = sorted({p.key_variable for p in PROVIDERS.values() if p.key_variable} | {URL_KEY})
    return {name: bool(os.environ.get(name)) for name in names}


def secret_values() -> tuple[str, ...]:
    """Values of all configured keys, for the ledger to mask."""
    return tuple(value for name in known_keys() if (value := os.environ.get(name, "").strip()))
