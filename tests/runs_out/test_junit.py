"""JUnit XML: well-formed whatever stands in it, valid by the schema CI systems go by, and honest about failures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from dream_eval.runs.junit import write_junit
from dream_eval.runs.reading import open_run
from dream_eval.runs.summary import gate_codes
from lxml import etree

SCHEMA = """\
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="outcome" mixed="true">
    <xs:attribute name="message" type="xs:string"/>
    <xs:attribute name="type" type="xs:string"/>
  </xs:complexType>
  <xs:element name="testcase">
    <xs:complexType>
      <xs:sequence>
        <xs:choice minOccurs="0">
          <xs:element name="skipped"><xs:complexType><xs:attribute name="message" type="xs:string"/></xs:complexType>
          </xs:element>
          <xs:element name="error" type="outcome"/>
          <xs:element name="failure" type="outcome"/>
        </xs:choice>
        <xs:element name="system-out" type="xs:string" minOccurs="0"/>
      </xs:sequence>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="classname" type="xs:string" use="required"/>
    </xs:complexType>
  </xs:element>
  <xs:attributeGroup name="counts">
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
  </xs:attributeGroup>
  <xs:element name="testsuite">
    <xs:complexType>
      <xs:sequence><xs:element ref="testcase" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
      <xs:attributeGroup ref="counts"/>
      <xs:attribute name="skipped" type="xs:nonNegativeInteger"/>
      <xs:attribute name="timestamp" type="xs:dateTime"/>
    </xs:complexType>
  </xs:element>
  <xs:element name="testsuites">
    <xs:complexType>
      <xs:sequence><xs:element ref="testsuite" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
      <xs:attributeGroup ref="counts"/>
    </xs:complexType>
  </xs:element>
</xs:schema>
"""
"""The part of the usual schema (Jenkins' xUnit) that is used here, as rules of our own."""


def written(folder: Path, path: Path, gates: dict[str, float] | None = None) -> ElementTree.Element:
    """Write, check against the schema and the counts, and parse as CI systems do."""
    write_junit(folder, path, gates)
    etree.XMLSchema(etree.fromstring(SCHEMA)).assertValid(etree.parse(path))
    root = ElementTree.parse(path).getroot()
    for node in (root, *root.iter("testsuite")):
        cases = list(node.iter("testcase"))
        counted = {name: sum(case.find(name) is not None for case in cases) for name in ("failure", "error", "skipped")}
        assert int(node.attrib["tests"]) == len(cases)
        assert int(node.attrib["failures"]) == counted["failure"]
        assert int(node.attrib["errors"]) == counted["error"]
        if node.tag == "testsuite":
            assert int(node.attrib["skipped"]) == counted["skipped"]
    return root


def outcome(root: ElementTree.Element, group: str, name: str) -> tuple[str, dict[str, str]]:
    (case,) = [c for c in root.iter("testcase") if (c.attrib["classname"], c.attrib["name"]) == (group, name)]
    found = [child for child in case if child.tag != "system-out"]
    return (found[0].tag, found[0].attrib) if found else ("passed", {})


def test_a_suite_a_system_and_a_case_a_unit(finished: Path, tmp_path: Path) -> None:
    root = written(finished, tmp_path / "junit.xml")
    assert [suite.attrib["name"] for suite in root] == ["cited", "uncited"]
    assert len(list(root.iter("testcase"))) == 24
    assert outcome(root, "cited.factuality", "t1") == ("passed", {})
    assert outcome(root, "uncited.da", "t2") == ("skipped", {"message": "not applicable: no_citations"})
    said = [case.findtext("system-out") for case in root.iter("testcase") if case.attrib["classname"] == "cited.kic"]
    assert said == ["score 75.0, interval 0.0–100.0, 4 of 4 decided"] * 2


def test_each_gate_is_a_case_that_agrees_with_the_exit_code(finished: Path, tmp_path: Path) -> None:
    gates = {"kic": 75.0, "da": 10.0}
    root = written(finished, tmp_path / "junit.xml", gates)
    assert outcome(root, "cited.gates", "kic ≥ 75") == ("passed", {})
    assert outcome(root, "cited.gates", "da ≥ 10") == ("passed", {})
    about = {"type": "gate", "message": "50.0 is below 75"}
    assert outcome(root, "uncited.gates", "kic ≥ 75") == ("failure", about)
    about = {"type": "gate", "message": "no score to hold against 10"}
    assert outcome(root, "uncited.gates", "da ≥ 10") == ("failure", about)
    assert outcome(root, "uncited.kic", "t1")[0] == "passed", "the unit itself did nothing wrong"
    assert outcome(root, "uncited.da", "t1")[0] == "skipped"
    summary = open_run(finished).summary
    assert summary is not None
    for metric, least in (("kic", 50.0), ("kic", 50.1), ("kic", 75.1), ("da", 1.0), ("race", 1.0)):
        root = written(finished, tmp_path / "junit.xml", {metric: least})
        assert bool(gate_codes(summary, {metric: least})) == (root.attrib["failures"] != "0"), (metric, least)


def changed(finished: Path, target: Path, **result: Any) -> Path:
    """The run with another end of its first unit."""
    shutil.copytree(finished, target)
    path = target / "results.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["result"] |= result
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return target


def test_failed_and_not_reached_are_errors(finished: Path, tmp_path: Path) -> None:
    gone = {"status": "failed", "score": None, "interval": None, "reason": "overloaded"}
    folder = changed(finished, tmp_path / "run", **gone)
    lines = (folder / "results.jsonl").read_text().splitlines()
    (folder / "results.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    root = written(folder, tmp_path / "junit.xml")
    assert outcome(root, "cited.wq", "t1") == ("error", {"type": "failed", "message": "overloaded"})
    assert outcome(root, "uncited.da", "t2")[1]["type"] == "not_reached"
    assert root.attrib["errors"] == "2"


@pytest.mark.parametrize("evil", ["\x00\x1b[31m\x08", "]]><x/>&amp;\"'", "\ufffe\uffff", "a\nb\tc", "\u202e語"])
def test_hostile_text_breaks_nothing(finished: Path, tmp_path: Path, evil: str) -> None:
    gone = {"status": "failed", "score": None, "interval": None, "reason": f"<{evil}> no answer"}
    folder = changed(finished, tmp_path / "run", **gone)
    config = json.loads((folder / "run.json").read_text())
    lines = (folder / "results.jsonl").read_text().splitlines()
    for ref in config["reports"]:
        ref["id"] = ref["id"].replace("uncited", f"x{evil}y")
    (folder / "run.json").write_text(json.dumps(config))
    (folder / "results.jsonl").write_text("\n".join(lines[:6]) + "\n")
    root = written(folder, tmp_path / "junit.xml")
    message = outcome(root, "cited.wq", "t1")[1]["message"]
    assert message.startswith("<")
    assert message.endswith("> no answer")
    assert len(root) == 2


async def test_judges_and_repeats_are_told_apart_where_there_are_several(runs: Any, tmp_path: Path) -> None:
    from world import judge_of_world

    with judge_of_world() as second:
        other = second.judge.replace("#scripted", "#other")
        result = await runs.run("run", ("t1",), ("cited",), metrics="wq", judge=[runs.chat.judge, other], repeats=2)
    root = written(result.folder, tmp_path / "junit.xml")
    names = [case.attrib["name"] for case in root.iter("testcase")]
    first, last = result.config.judges
    assert names == [f"t1 · {first} · repeat 1", f"t1 · {first} · repeat 2"] + [
        f"t1 · {last} · repeat {number}" for number in (1, 2)
    ]
