from __future__ import annotations

import copy
import json
import math
from typing import Any

import pytest
from dream_eval.ledger import Kind, Request, canonical, digest
from hypothesis import assume, given
from hypothesis import strategies as st

texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
bodies = st.dictionaries(texts, values, max_size=5)
kinds = st.sampled_from(Kind)


def shuffled(value: Any, random: Any) -> Any:
    """The same value with every dict's keys in another order."""
    if isinstance(value, dict):
        names = list(value)
        random.shuffle(names)
        return {name: shuffled(value[name], random) for name in names}
    return [shuffled(item, random) for item in value] if isinstance(value, list) else value


@given(kinds, texts, bodies, st.integers(0, 5), st.randoms(use_true_random=False))
def test_equal_requests_have_equal_keys_whatever_the_order_of_dict_keys(
    kind: Kind, endpoint: str, body: Any, sample: int, random: Any
) -> None:
    one = Request(kind, endpoint, body, sample)
    other = Request(Kind(kind.value), "".join(list(endpoint)), shuffled(copy.deepcopy(body), random), sample)
    assert one.key == other.key
    assert len(one.key) == 64
    assert set(one.key) <= set("0123456789abcdef")


@given(bodies, bodies)  # two independent draws
def test_other_bodies_have_other_keys(one: Any, other: Any) -> None:
    assume(json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True))
    assert Request(Kind.PAGE, "e", one).key != Request(Kind.PAGE, "e", other).key


@given(bodies, texts, values, st.data())
def test_any_single_change_gives_a_new_key(body: Any, name: str, value: Any, data: st.DataObject) -> None:
    request = Request(Kind.SEARCH, "engine", body, 1)
    changed = {
        "kind": Request(Kind.PAGE, "engine", body, 1),
        "endpoint": Request(Kind.SEARCH, "engine2", body, 1),
        "sample": Request(Kind.SEARCH, "engine", body, 2),
        "moved": Request(Kind.SEARCH, "engine1", body, 0),
        "added": Request(Kind.SEARCH, "engine", {**body, name + "~": value}, 1),
    }
    if body:
        gone = data.draw(st.sampled_from(sorted(body)))
        changed["removed"] = Request(Kind.SEARCH, "engine", {k: v for k, v in body.items() if k != gone}, 1)
        changed["wrapped"] = Request(Kind.SEARCH, "engine", {**body, gone: [body[gone]]}, 1)
    assert len({request.key, *(other.key for other in changed.values())}) == len(changed) + 1


@given(values)
def test_canonical_text_is_json_that_reads_back_and_fits_into_utf8(value: Any) -> None:
    text = canonical(value)
    text.encode()
    assert json.loads(text) == value
    assert digest(value) == digest(json.loads(text))


def test_known_key_stays_what_it_is() -> None:
    """Keys are stored in files: a change of this value makes every recorded answer unreachable."""
    request = Request(Kind.SEARCH, "engine", {"query": "ä", "limit": 3})
    text = '{"body":{"limit":3,"query":"ä"},"endpoint":"engine","kind":"search","sample":0}'
    assert canonical(json.loads(text)) == text
    assert request.key == digest(json.loads(text))
    assert request.key == "92b98d2d3c4533e313df2ac8999711329927cd9b838e1c39493d25134017ca49"


def test_unicode_forms_are_kept_apart_and_half_surrogates_survive() -> None:
    composed, decomposed = "\u00e9", "e\u0301"
    assert Request(Kind.PAGE, "e", {"q": composed}).key != Request(Kind.PAGE, "e", {"q": decomposed}).key
    assert json.loads(canonical("a\ud800b")) == "a\ud800b"
    assert len(Request(Kind.PAGE, "e", {"q": "\ud800"}).key) == 64


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_key_for_what_is_no_json(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        _ = Request(Kind.PAGE, "e", {"n": number}).key


def test_subject_is_what_a_person_would_call_it() -> None:
    assert Request(Kind.SEARCH, "engine", {"query": "cats"}).subject == "cats"
    assert Request(Kind.PAGE, "web", {"url": "https://a.example/"}).subject == "https://a.example/"
    assert Request(Kind.COMPLETION, "https://h/v1", {"model": "m"}).subject == "m"
    assert Request(Kind.GITHUB, "api", {}).subject == "api"
