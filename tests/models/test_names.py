from __future__ import annotations

import datetime as dt
import subprocess
import sys

import pytest
from dream_eval.errors import UserError
from dream_eval.models import (
    PROVIDERS,
    default_judge,
    describe,
    known_keys,
    parse_judge,
    price_of,
    prices_as_of,
    secret_values,
)
from dream_eval.models.prices import Price, list_price


def test_all_promised_providers_are_there() -> None:
    promised = "openai openrouter anthropic gemini mistral deepseek together groq hf ollama vllm"
    assert set(PROVIDERS) == set(promised.split())
    for provider in PROVIDERS.values():
        assert provider.base_url.startswith("http://localhost" if provider.free else "https://")
        assert provider.context >= 4096
        assert (provider.key_variable is not None) or not provider.key_needed


def test_provider_and_model() -> None:
    judge = parse_judge("together/meta-llama/Llama-3.3-70B")
    assert (judge.provider.name, judge.model) == ("together", "meta-llama/Llama-3.3-70B")
    assert judge.endpoint == "https://api.together.xyz/v1"
    assert parse_judge("openai/gpt-5").provider.max_tokens_name == "max_completion_tokens"


URLS = [
    ("https://api.host.example/v1#a/b:c", "https://api.host.example/v1", "a/b:c", False),
    ("https://api.host.example:8443/v1/#m", "https://api.host.example/v1", "m", False),
    ("http://127.0.0.1:8000/v1#m", "http://127.0.0.1/v1", "m", True),
    ("http://localhost:1/v1#m", "http://localhost/v1", "m", True),
    ("http://[::1]:9/v1#m", "http://[::1]/v1", "m", True),
    ("http://192.168.1.5/v1#m", "http://192.168.1.5/v1", "m", True),
]


@pytest.mark.parametrize(("name", "endpoint", "model", "free"), URLS)
def test_addresses_in_full(name: str, endpoint: str, model: str, free: bool) -> None:
    judge = parse_judge(name)
    assert (judge.endpoint, judge.model, judge.provider.free) == (endpoint, model, free)
    assert judge.name == f"{endpoint}#{model}"
    assert judge.provider.base_url == name.partition("#")[0].rstrip("/")
    assert price_of(name) == (Price(0, 0, 0) if free else None)


BAD = [
    ("gpt-5", "unknown judge"),
    ("nobody/gpt-5", "unknown judge"),
    ("openai", "names no model"),
    ("openai/", "names no model"),
    ("https://host.example/v1", "names no model"),
    ("https://host.example/v1#", "names no model"),
    ("http://host.example/v1#m", "needs https"),
    ("http://8.8.8.8/v1#m", "needs https"),
    ("ftp://host.example/v1#m", "not an http"),
    ("https:///v1#m", "not an http"),
    ("https://user:pass@host.example/v1#m", "DREAM_API_KEY"),
    ("https://host.example/v1?key=abc#m", "DREAM_API_KEY"),
]


@pytest.mark.parametrize(("name", "why"), BAD)
def test_bad_names_are_one_clear_line(name: str, why: str) -> None:
    with pytest.raises(UserError, match=why) as caught:
        parse_judge(name)
    assert "\n" not in str(caught.value)
    assert "pass@" not in str(caught.value)


def test_never_a_paid_judge_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.delenv("DREAM_JUDGE", raising=False)
    assert default_judge() == "local"
    monkeypatch.setenv("DREAM_JUDGE", " groq/x ")
    assert default_judge() == "groq/x"


def test_known_prices_have_a_date_and_unknown_ones_are_none() -> None:
    assert dt.date(2025, 1, 1) < prices_as_of() < dt.date(2030, 1, 1)
    assert list_price("openai", "gpt-5-mini") == Price(0.25, 0.025, 2.0)
    assert list_price("openai", "gpt-5-mini-2025-08-07") == Price(0.25, 0.025, 2.0)
    assert list_price("anthropic", "claude-sonnet-4-5-20250929") == Price(3.0, 0.3, 15.0)
    for provider, model in [
        ("openai", "gpt-5-mini-preview"),
        ("openai", "gpt-55"),
        ("openrouter", "x"),
        ("as_of", "x"),
    ]:
        assert list_price(provider, model) is None
    assert price_of("openai/brand-new") is None
    assert price_of("ollama/anything") == price_of("local") == price_of("local:0123456789ab") == Price(0, 0, 0)


def test_a_price_without_a_cached_one_counts_cached_tokens_in_full() -> None:
    price = list_price("groq", "llama-3.1-8b-instant")
    assert price is not None
    assert price.cost(1_000_000, 1_000_000, 0) == pytest.approx(0.05)


def test_describing_shows_names_of_keys_and_never_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-marker-0123456789")
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    described = describe("openai/gpt-5-mini")
    assert (described.key_variable, described.key_set, described.context) == ("OPENAI_API_KEY", True, 400_000)
    assert "marker" not in repr(described)
    assert not describe("groq/x").key_set
    assert describe("local").base_url is None
    assert known_keys()["OPENAI_API_KEY"] is True
    assert "sk-marker-0123456789" in secret_values()


def test_importing_and_describing_loads_no_sdk() -> None:
    code = (
        "import sys; from dream_eval.models import describe, price_of, ask, open_model; describe('openai/gpt-5');"
        "assert not {'openai', 'xllamacpp', 'httpx2', 'smolagents'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
