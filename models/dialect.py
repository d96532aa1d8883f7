"""What an endpoint understands: how a canonical request is written for it, and what to try when it refuses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from ..core import Json
from ..ledger import digest
from .faults import Fault, Trouble
from .grammar import grammar_of

_UNSUPPORTED = ("unsupported", "not support", "unrecognized", "unknown", "not permitted", "extra inputs", "deprecated")
_UNSUPPORTED_MORE = ("not allowed", "unexpected", "only the default", "does not accept", "invalid parameter", "use '")
_SCHEMA_WORDS = ("response_format", "json_schema", "json_object", "schema", "structured", "grammar", "guided")
_REFUSED = {"minLength", "maxLength", "pattern", "format"}
_SCALARS = ("string", "integer", "number", "boolean")
_PLAIN = {"type", "enum", "title", "description", *_REFUSED}
_ENOUGH_REFUSED = 3
"""So many different schemas refused, and none taken between them: the endpoint takes none."""
_CONTEXT_WORDS = ("context length", "context_length", "context size", "context window", "too long", "too many tokens")


class Form(IntEnum):
    """How structured output is asked for, best first."""

    SCHEMA = 0
    """The endpoint holds the model to a JSON schema."""
    JSON = 1
    """The endpoint holds it to JSON; the schema stands in the prompt."""
    TEXT = 2
    """Only the prompt asks for it."""


@dataclass
class Schemas:
    """Which schemas one model at one endpoint refused. One odd schema says nothing of the others, so each is
    remembered by itself; a plain one that is refused, or several in a row, say that the endpoint takes none."""

    otherwise: Form = Form.JSON
    """How an answer is asked for whose schema is not sent."""
    refused: set[str] = field(default_factory=set)
    """Digests."""
    row: int = 0
    """Different ones refused since one was taken."""
    none: bool = False
    """The endpoint takes none."""

    def form_for(self, schema: Json) -> Form:
        """What to try first."""
        return self.otherwise if self.none or (self.refused and digest(schema) in self.refused) else Form.SCHEMA

    def learn(self, schema: Json, form: Form) -> None:
        """An answer came when it was asked for in this form."""
        if form is Form.SCHEMA:
            self.row = 0
            return
        self.otherwise = max(self.otherwise, form)
        if self.none:
            return  # this one was not even tried
        name = digest(schema)
        self.row += name not in self.refused
        self.refused.add(name)
        self.none = self.row >= _ENOUGH_REFUSED or is_plain(schema)


@dataclass(frozen=True)
class Dialect:
    """What one model at one endpoint understands. Learned from its refusals, remembered while it is open."""

    schemas: Schemas = field(default_factory=Schemas)
    """Shared by all calls of the model."""
    form: Form = Form.SCHEMA
    """Of the call at hand."""
    max_tokens_name: str = "max_tokens"
    temperature: bool = True
    stop: bool = True
    logprobs: bool = True
    renamed: bool = False
    """The other name of the output limit was tried already."""
    grammar: bool = False
    """The endpoint is llama.cpp: schemas are sent as a grammar without white space."""

    def opening(self, schema: Json) -> Dialect:
        """What a call with this schema (None: without one) begins with."""
        return self if schema is None else replace(self, form=self.schemas.form_for(schema))

    def learnt(self, schema: Json) -> Dialect:
        """What is remembered when a call with this schema was answered."""
        if schema is not None:
            self.schemas.learn(schema, self.form)
        return replace(self, form=Form.SCHEMA)

    def write(self, body: dict[str, Any]) -> dict[str, Any]:
        """What is sent."""
        sent: dict[str, Any] = {"model": body["model"], "messages": body["messages"]}
        sent[self.max_tokens_name] = body["max_tokens"]
        if self.temperature:
            sent["temperature"] = body["temperature"]
        if self.stop and body["stop"]:
            sent["stop"] = body["stop"]
        if self.logprobs and body["top_logprobs"]:
            sent |= {"logprobs": True, "top_logprobs": body["top_logprobs"]}
        if body["schema"] is not None:
            sent |= self._structured(body["schema"], body["messages"])
        return sent

    def _structured(self, schema: Json, messages: list[dict[str, str]]) -> dict[str, Any]:
        if self.form is Form.SCHEMA:
            if self.grammar:
                return {"grammar": grammar_of(schema)}
            wanted = {"name": "answer", "strict": True, "schema": without_lengths(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": wanted}}
        last = messages[-1]
        asked = f"{last['content']}\n\nAnswer with one JSON object that fits this JSON schema, and with nothing else:\n"
        told = {"messages": [*messages[:-1], {**last, "content": asked + json.dumps(schema, ensure_ascii=False)}]}
        return told | ({"response_format": {"type": "json_object"}} if self.form is Form.JSON else {})

    def after(self, trouble: Trouble, sent: dict[str, Any], structured: bool) -> Dialect | None:
        """What to try next after a refusal of ``sent``; None when nothing is left that could help."""
        if trouble.fault is not Fault.REFUSED or trouble.mentions(*_CONTEXT_WORDS):
            return None
        unsupported = trouble.mentions(*_UNSUPPORTED, *_UNSUPPORTED_MORE)
        if "temperature" in sent and trouble.mentions("temperature"):
            return replace(self, temperature=False)
        if "logprobs" in sent and trouble.mentions("logprobs"):
            return replace(self, logprobs=False)
        if not self.renamed and unsupported and trouble.mentions("max_tokens", "max_completion_tokens"):
            return replace(self, max_tokens_name=_other(self.max_tokens_name), renamed=True)
        if "stop" in sent and unsupported and trouble.mentions("stop", "'stop'"):
            return replace(self, stop=False)
        if structured and self.form < Form.TEXT and self._about_form(trouble):
            return replace(self, form=Form(self.form + 1))
        return None

    def _about_form(self, trouble: Trouble) -> bool:
        """A refusal that names the form of the answer, or that names nothing at all (some proxies)."""
        return trouble.mentions(*_SCHEMA_WORDS) or (trouble.status in (400, 422) and not trouble.param)


def _other(name: str) -> str:
    return "max_tokens" if name == "max_completion_tokens" else "max_completion_tokens"


def is_plain(schema: Json) -> bool:
    """An object of words, numbers and truth values, with nothing nested: whoever takes schemas takes this one."""
    fields = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(fields, dict) and all(
        isinstance(one, dict) and one.get("type") in _SCALARS and set(one) <= _PLAIN for one in fields.values()
    )


def without_lengths(schema: Json) -> Json:
    """The schema without the keywords that hosted strict modes refuse. A longest length is told in the description
    instead, so that the model knows; pydantic checks it afterwards."""
    if isinstance(schema, list):
        return [without_lengths(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Json] = {}
    for name, value in schema.items():
        if name == "properties" and isinstance(value, dict):
            kept[name] = {field: without_lengths(part) for field, part in value.items()}
        elif name not in _REFUSED:
            kept[name] = without_lengths(value)
    longest = schema.get("maxLength")
    if isinstance(longest, int):
        told = f"at most {longest} characters"
        kept["description"] = f"{schema['description']} ({told})" if "description" in schema else told
    return kept
