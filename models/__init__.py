"""Talking to a chat model: providers, limits, prices, structured output, the embedded judge."""

from .asking import ask
from .chat import Card, ChatModel
from .counting import count_tokens
from .data import Asked, Completion, Limits, Message, system, user
from .describing import Described, describe, is_local, price_of
from .opening import open_model, run_sync
from .parsing import Unreadable, parse_reply
from .prices import Price, prices_as_of
from .prompts import fence, report_prompt, without_tokens
from .providers import PROVIDERS, default_judge, known_keys, parse_judge, secret_values
from .schemas import schema_of

__all__ = [
    "PROVIDERS",
    "Asked",
    "Card",
    "ChatModel",
    "Completion",
    "Described",
    "Limits",
    "Message",
    "Price",
    "Unreadable",
    "ask",
    "count_tokens",
    "default_judge",
    "describe",
    "fence",
    "is_local",
    "known_keys",
    "open_model",
    "parse_judge",
    "parse_reply",
    "price_of",
    "prices_as_of",
    "report_prompt",
    "run_sync",
    "schema_of",
    "secret_values",
    "system",
    "user",
    "without_tokens",
]
