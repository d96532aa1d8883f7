from dream_eval.protocols import DREAM, GROUPS, METRICS, Ability, diff


def test_the_table_is_the_specification():
    assert list(METRICS) == [*DREAM, *GROUPS["dre"], *GROUPS["drb"]]
    assert DREAM == ("wq", "kic", "rq", "factuality", "ci", "da")
    assert (GROUPS["dre"], GROUPS["drb"]) == (("dre_quality", "dre_facts"), ("race", "fact"))
    assert {name for name, metric in METRICS.items() if metric.adaptive} == {"kic", "rq", "dre_quality", "race"}
    assert {name: metric.kind for name, metric in METRICS.items()} == {
        "wq": "llm",
        "kic": "llm",
        "rq": "agent",
        "factuality": "workflow",
        "ci": "workflow",
        "da": "workflow",
        "dre_quality": "llm",
        "dre_facts": "agent",
        "race": "llm",
        "fact": "workflow",
    }
    assert METRICS["da"].needs == {Ability.CHAT}
    assert METRICS["rq"].needs == {Ability.CHAT, Ability.SEARCH, Ability.PAGES}
    assert METRICS["ci"].inputs == ("report", "claims", "citations")
    assert METRICS["race"].inputs == ("report", "rubric", "reference")
    assert Ability.SEARCH not in METRICS["fact"].needs
    assert len({metric.vertical for metric in METRICS.values()}) == 4


def test_equal_protocols(protocol):
    found = diff(protocol, protocol)
    assert (found.added, found.removed, found.changed, found.same, found.head) == ((), (), (), 11, ())


def test_moved_changed_added_and_removed(protocol):
    keys = list(protocol.key_questions)
    moved = keys[3].model_copy(update={"id": "k1"})
    reworded = keys[0].model_copy(
        update={"id": "k2", "text": "Does the report state that the grid limit rose to 9 GW?"}
    )
    new = keys[1].model_copy(update={"id": "k3", "text": "Are battery stores in the south counted?"})
    other = protocol.model_copy(
        update={
            "key_questions": (moved, reworded, new, *keys[4:]),
            "maker": protocol.maker.model_copy(update={"model": "n"}),
        }
    )
    found = diff(protocol, other)
    assert found.added == ("k3",)
    assert set(found.removed) == {"k2", "k3"}
    assert [(change.old, change.new, change.fields) for change in found.changed] == [("k1", "k2", ("text",))]
    assert found.same == 4 + 1 + 3
    assert found.head == ("maker",)
