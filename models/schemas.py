"""JSON schemas from pydantic models, in the strict and simple form that hosted strict modes and llama.cpp take."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

from ..core import Json

_DROPPED = {"title", "default", "examples", "deprecated", "readOnly", "writeOnly", "discriminator"}


@cache
def _schema(answer: type[BaseModel]) -> dict[str, Any]:
    raw = answer.model_json_schema()
    found = _plain(raw, raw.get("$defs", {}), ())
    assert isinstance(found, dict)
    return found


def schema_of(answer: type[BaseModel]) -> dict[str, Json]:
    """The schema of ``answer``: references resolved, every property required, no others allowed.

    ValueError for a type that contains itself.
    """
    return _schema(answer)


def _plain(value: Any, defs: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_plain(item, defs, inside) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        name = str(value["$ref"]).rsplit("/", 1)[-1]
        if name in inside:
            raise ValueError(f"{name} contains itself: no simple schema can describe it")
        return _plain({**defs[name], **{k: v for k, v in value.items() if k != "$ref"}}, defs, (*inside, name))
    return _object(value, defs, inside)


def _object(value: dict[str, Any], defs: dict[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, part in value.items():
        if name == "properties":
            plain[name] = {field: _plain(schema, defs, inside) for field, schema in part.items()}
        elif name in ("enum", "const", "required", "description"):
            plain[name] = part
        elif name != "$defs" and name not in _DROPPED:
            plain[name] = _plain(part, defs, inside)
    if "const" in plain:
        plain["enum"] = [plain.pop("const")]
    if "oneOf" in plain:
        plain["anyOf"] = plain.pop("oneOf")
    if "properties" in plain:
        plain["required"], plain["additionalProperties"] = list(plain["properties"]), False
    return plain
