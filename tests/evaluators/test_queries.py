"""Queries must not depend on what a claim says about its subject: negations and number twins give the same ones."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from dream_eval.core import AsOf
from dream_eval.evaluators.queries import lemma, neutral_queries
from hypothesis import given
from hypothesis import strategies as st

AS_OF = AsOf(day=dt.date(2025, 6, 30))

# claim, its negation, its twin with another number
TRIPLES = [
    (
        "The FDA approved Zepbound for 3 conditions in 2023.",
        "The FDA did not approve Zepbound for 3 conditions in 2023.",
        "The FDA approved Zepbound for 5 conditions in 2024.",
    ),
    (
        "Lithium-ion battery pack prices fell 20% to $115 per kWh in 2024.",
        "Lithium-ion battery pack prices didn't fall 20% to $115 per kWh in 2024.",
        "Lithium-ion battery pack prices fell 14% to $139 per kWh in December 2023.",
    ),
    (
        "COVID-19 vaccines prevented 14.4 million deaths.",
        "COVID-19 vaccines never prevented 14.4 million deaths.",
        "COVID-19 vaccines prevented 19.8 million deaths.",
    ),
    (
        "OpenSSL 3.5 contains ML-KEM.",
        "OpenSSL 3.5 doesn't contain ML-KEM.",
        "OpenSSL 4.0 contains ML-KEM.",
    ),
    (
        "Studies show that GPT-4 passed two of three exams.",
        "No studies show that GPT-4 passed two of three exams.",
        "Studies show that GPT-4 passed one of four exams.",
    ),
    (
        "Tesla sold 1.8 million cars in Q4 2023, more than BYD.",
        "It is not true that Tesla sold 1.8 million cars in Q4 2023, more than BYD.",
        "Tesla sold 484,507 cars in Q1 2024, more than BYD.",
    ),
    (
        "The company's revenue rose by about €2bn between 2020 and 2023.",
        "The company's revenue has not risen by about €2bn between 2020 and 2023.",
        "The company's revenue rose by about €750m between 2019 and 2022.",
    ),
    (
        "NIST published three standards on 13 August 2024.",
        "NIST has published no standards on 13 August 2024.",
        "NIST published five standards on 1 March 2025.",
    ),
    (
        "The 30-day trial reduced symptoms in 45 of 60 patients.",
        "The 30-day trial did not reduce symptoms in 45 of 60 patients.",
        "The 90-day trial reduced symptoms in 12 of 48 patients.",
    ),
    (
        "AES-256 must be replaced by 2030.",
        "AES-256 must not be replaced by 2030.",
        "AES-256 must be replaced by 2035.",
    ),
    (
        "Norway bought the 2nd largest share of U.S. corn.",
        "Norway didn't buy the 2nd largest share of U.S. corn.",
        "Norway bought the 3rd largest share of U.S. corn.",
    ),
    (
        "The bank failed to report losses of US$10 million.",
        "The bank reported losses of US$10 million.",
        "The bank failed to report losses of US$12.5 million.",
    ),
    (
        "国家药监局在2023年批准了该药物用于治疗阿尔茨海默病。",
        "国家药监局没有在2023年批准该药物用于治疗阿尔茨海默病。",
        "国家药监局在2021年批准了该药物用于治疗阿尔茨海默病。",
    ),
    (
        "2024年中国新能源汽车销量达到1286.6万辆，同比增长35.5%。",
        "2024年中国新能源汽车销量没有达到1286.6万辆，同比没有增长35.5%。",
        "2022年中国新能源汽车销量达到688.7万辆，同比增长93.4%。",
    ),
    ("该公司生产三种芯片。", "该公司不生产三种芯片。", "该公司生产五种芯片。"),
    (
        "比亚迪的市场份额超过百分之三十，是特斯拉的两倍。",
        "比亚迪的市场份额并没有超过百分之三十，不是特斯拉的两倍。",
        "比亚迪的市场份额超过百分之二十五，是特斯拉的三倍。",
    ),
]


@pytest.mark.parametrize(("claim", "negation", "twin"), TRIPLES, ids=[triple[0][:30] for triple in TRIPLES])
def test_a_claim_its_negation_and_its_twin_give_the_same_queries(claim: str, negation: str, twin: str) -> None:
    queries = neutral_queries(claim, as_of=AS_OF)
    assert 1 <= len(queries) <= 2
    assert neutral_queries(negation, as_of=AS_OF) == queries
    assert neutral_queries(twin, as_of=AS_OF) == queries


@pytest.mark.parametrize(
    ("claim", "queries"),
    [
        (
            "COVID-19 vaccines prevented 14.4 million deaths.",
            ("COVID-19 vaccine prevent death", "COVID-19 vaccine prevent"),
        ),
        ("The Bahamas banned 30-day visas.", ("bahamas ban visa",)),
        (
            "5G networks cover 45 percent of Africa's population.",
            ("5G network cover africa population", "5G network africa population"),
        ),
        ("Best Buy reported to the New York Times.", ("buy report new york times",)),
        ("OpenSSL 3.5 contains ML-KEM.", ("OpenSSL contain ML-KEM",)),
        ("不丹的不锈钢产量为三万吨。", ("不丹的不锈钢产量为",)),
        ("2 of 3, or 67%.", ()),
        ("", ()),
    ],
)
def test_what_stays_is_names_and_content_words_in_order(claim: str, queries: tuple[str, ...]) -> None:
    found = neutral_queries(claim)
    assert found[: len(queries)] == queries
    assert bool(found) == bool(queries)


def test_the_year_of_the_as_of_date_is_added_to_the_first_query_only() -> None:
    plain = neutral_queries("COVID-19 vaccines prevented deaths in Europe by 2021.")
    dated = neutral_queries("COVID-19 vaccines prevented deaths in Europe by 2021.", as_of=AS_OF)
    assert dated == (f"{plain[0]} 2025", *plain[1:])
    assert neutral_queries("12 of 13.", as_of=AS_OF) == ()


@pytest.mark.parametrize(
    ("form", "base"),
    [
        pair.split(">")
        for pair in [
            *(
                "approved>approve",
                "created>create",
                "treated>treat",
                "required>require",
                "repaired>repair",
                "joined>join",
            ),
            *("defined>define", "stopped>stop", "called>call", "controlled>control", "passed>pass", "used>use"),
            *("closed>close", "focused>focus", "changed>change", "belonged>belong", "studied>study", "enabled>enable"),
            *("visited>visit", "invited>invite", "included>include", "added>add", "needed>need", "agreed>agree"),
            *("measures>measure", "processes>process", "reaches>reach", "classes>class", "goes>go", "does>do"),
            *("wrote>write", "sold>sell", "series>series", "physics>physics", "status>status", "analysis>analysis"),
            *("referred>refer", "developed>develop", "shaped>shape", "noted>note", "monitored>monitor", "stored>store"),
        ]
    ],
)
def test_past_tense_and_third_person_go_back_to_the_base_form(form: str, base: str) -> None:
    assert lemma(form) == base
    assert lemma(base) == base or base in ("do",)


WORDS = st.sampled_from(
    ["Norway", "battery", "NIST", "reactors", "lattice", "turbines", "vaccine", "Kyoto", "market", "protein"]
)
VERBS = st.sampled_from(
    [("approved", "approve"), ("supported", "support"), ("measured", "measure"), ("built", "build"), ("joined", "join")]
)
NUMBERS = st.one_of(
    st.integers(0, 10**9).map(str),
    st.integers(0, 10**9).map(lambda n: f"{n:,}"),
    st.floats(0, 10**6).map(lambda x: f"{x:.1f}%"),
    st.integers(1, 999).map(lambda n: f"${n} million"),
    st.integers(1, 99).map(lambda n: f"{n} km"),
    st.sampled_from(["two", "twelve", "a dozen", "half", "two thirds of", "3.5bn", "€40", "£1.2m", "10th", "1990s"]),
)


@given(WORDS, VERBS, WORDS, NUMBERS, NUMBERS, st.integers(1900, 2099), st.integers(1900, 2099))
def test_no_number_no_year_and_no_negation_changes_a_query(
    subject: str, verb: tuple[str, str], thing: str, number: str, other: str, year: int, next_year: int
) -> None:
    claim = f"The {subject} agency {verb[0]} {number} {thing} in {year}."
    same = neutral_queries(claim)
    assert neutral_queries(f"The {subject} agency did not {verb[1]} {number} {thing} in {year}.") == same
    assert neutral_queries(f"The {subject} agency {verb[0]} {other} {thing} in {next_year}.") == same
    assert not re.search(r"\d", " ".join(same))


HAN_NUMBERS = st.one_of(
    st.integers(1, 10**6).map(lambda n: f"{n}万"), st.sampled_from(["三", "十二", "两百", "3.5亿", "1,200"])
)


@given(st.sampled_from(["芯片", "电动汽车", "疫苗"]), HAN_NUMBERS, HAN_NUMBERS, st.integers(1990, 2030))
def test_the_same_holds_in_chinese(thing: str, number: str, other: str, year: int) -> None:
    claim = f"该公司在{year}年生产了{number}个{thing}"
    same = neutral_queries(claim)
    assert neutral_queries(f"该公司没有在{year}年生产{number}个{thing}") == same
    assert neutral_queries(f"该公司在{year + 1}年生产了{other}个{thing}") == same
    assert not re.search(r"\d", " ".join(same))


@given(st.text(max_size=300))
def test_any_text_gives_at_most_two_short_queries(text: str) -> None:
    queries = neutral_queries(text, as_of=AS_OF)
    assert len(queries) <= 2
    assert all(query.strip() for query in queries)
