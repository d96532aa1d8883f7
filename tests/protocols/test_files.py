import datetime as dt
import json

import pytest
from dream_eval.errors import InputError
from dream_eval.protocols import digest_of, items_digest, load_protocol, save_protocol, seal


def write(path, protocol, **changes):
    raw = json.loads(seal(protocol).model_dump_json())
    raw.update(changes)
    path.write_text(json.dumps(raw))
    return path


def test_round_trip_and_digest(tmp_path, protocol):
    path = save_protocol(protocol, tmp_path / "deep" / "p.json")
    loaded = load_protocol(path)
    assert loaded == seal(protocol)
    assert len(loaded.digest) == 64
    assert [file.name for file in path.parent.iterdir()] == ["p.json"]


def test_digest_is_over_task_date_and_items_only(protocol):
    other_maker = protocol.model_copy(
        update={
            "maker": protocol.maker.model_copy(update={"model": "other"}),
            "created_at": dt.datetime(2027, 1, 1, tzinfo=dt.UTC),
            "flags": ("x",),
        }
    )
    assert digest_of(other_maker) == digest_of(protocol)
    for change in ({"as_of": protocol.as_of.model_copy(update={"day": dt.date(2026, 5, 2)})}, {"key_questions": ()}):
        assert digest_of(protocol.model_copy(update=change)) != digest_of(protocol)


def test_a_part_has_its_own_digest(protocol):
    changed = protocol.model_copy(update={"reasoning_questions": ()})
    assert items_digest(changed, "key_questions") == items_digest(protocol, "key_questions")
    assert items_digest(changed, "reasoning_questions") != items_digest(protocol, "reasoning_questions")


def test_a_file_edited_by_hand_is_sealed_anew_and_says_so(tmp_path, protocol):
    path = save_protocol(protocol, tmp_path / "p.json")
    path.write_text(path.read_text().replace("8 GW", "9 GW"))
    loaded = load_protocol(path)
    assert loaded.flags == ("edited",)
    assert loaded.digest == digest_of(loaded) != digest_of(protocol)
    assert load_protocol(save_protocol(loaded, path)).flags == ("edited",)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{\n  broken", ":2: not JSON"),
        ("[]", "no JSON object"),
        ("{}", "(schema_version)"),
        ('{"schema_version": true}', "(schema_version)"),
        ('{"schema_version": 99}', "newer dream-eval"),
        ('{"schema_version": 0}', "no version 0"),
        ('{"schema_version": 1}', "(task)"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_what_is_no_protocol_is_said_in_one_line(tmp_path, text, part):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_protocol(path)
    assert part in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_field_is_named(tmp_path, protocol):
    raw = json.loads(protocol.model_dump_json())
    del raw["key_questions"][2]["fact"]
    with pytest.raises(InputError) as caught:
        load_protocol(write(tmp_path / "p.json", protocol, key_questions=raw["key_questions"]))
    assert caught.value.field == "key_questions.2.fact"


def test_an_id_used_twice_is_refused(tmp_path, protocol):
    raw = json.loads(protocol.model_dump_json())["key_questions"]
    raw[3]["id"] = "k1"
    with pytest.raises(InputError, match="k1 is used twice"):
        load_protocol(write(tmp_path / "p.json", protocol, key_questions=raw))


def test_missing_file_and_wrong_bytes(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_protocol(tmp_path / "none.json")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        load_protocol(tmp_path / "b.json")
    with pytest.raises(InputError):
        load_protocol(tmp_path)


def test_a_failed_save_leaves_the_old_file(tmp_path, protocol):
    path = save_protocol(protocol, tmp_path / "p.json")
    before = path.read_text()
    broken = protocol.model_copy(update={"flags": ("\ud800",)})
    with pytest.raises(Exception, match="surrogates"):
        save_protocol(broken, path)
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["p.json"]


@pytest.mark.parametrize("field", ["text", "fact"])
def test_half_a_character_is_said_in_one_line(tmp_path, protocol, field):
    raw = json.loads(protocol.model_dump_json())
    raw["key_questions"][0][field] = "a\ud800"
    path = tmp_path / "p.json"
    path.write_text(json.dumps(raw))
    with pytest.raises(InputError, match="half a character") as caught:
        load_protocol(path)
    assert "\n" not in str(caught.value)
