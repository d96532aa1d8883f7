"""Folding, numbers, words, languages, likeness."""

import pytest
from dream_eval.reports import (
    are_twins,
    content_words,
    fold,
    language_of,
    missing_numbers,
    numbers_in,
    polarity,
    same_signs,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  A  b\n c ", "a b c"),
        ("“Quoted” ‘words’", "\"quoted\" 'words'"),
        ("2019–2020 — well‑known", "2019-2020 - well-known"),
        ("ＡＢＣ１２３", "abc123"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("a\u00a0b\u3000c", "a b c"),
        ("Straße", "strasse"),
        ("\u202eevil\u202c", "evil"),
        ("wait…", "wait..."),
    ],
)
def test_fold(text, folded):
    assert fold(text) == folded


NUMBERS = [
    ("1,200 people", ["1200"]),
    ("1 200 or 1\u202f200", ["1", "200", "1200"]),
    ("12.50 percent", ["12.5%"]),
    ("12.5 %", ["12.5%"]),
    ("５％", ["5%"]),
    ("$1.2 billion", ["1200000000usd"]),
    ("US$1.2bn", ["1200000000usd"]),
    ("1.2 billion dollars", ["1200000000usd"]),
    ("¥16.1T", ["16100000000000¥"]),
    ("€5m", ["5000000eur"]),
    ("5m long", ["5m"]),
    ("3.5亿人", ["350000000"]),
    ("9578亿美元", ["957800000000usd"]),
    ("30万元", ["300000¥"]),
    ("5 km and 5km", ["5km", "5km"]),
    ("May 1, 2025", ["2025-05-01"]),
    ("1 May 2025", ["2025-05-01"]),
    ("1st of May 2025", ["2025-05-01"]),
    ("2025-05-01", ["2025-05-01"]),
    ("2025/5/1", ["2025-05-01"]),
    ("2025年5月1日", ["2025-05-01"]),
    ("2025年5月", ["2025-05"]),
    ("2025年", ["2025"]),
    ("May 2025", ["2025-05"]),
    ("October 1", ["--10-01"]),
    ("2020–2050", ["2020", "2050"]),
    ("35–39%", ["35", "39%"]),
    ("-5% and −3%", ["-5%", "-3%"]),
    ("GPT-4 and H100", ["4", "h100"]),
    ("Q3 of FY2024", ["q3", "2024"]),
    ("version 3.7.1", ["3.7.1"]),
    ("the 1990s", ["1990"]),
    ("no numbers", []),
    ("1" * 60, ["1" * 60]),
]


@pytest.mark.parametrize(("text", "numbers"), NUMBERS, ids=[t for t, _ in NUMBERS])
def test_numbers(text, numbers):
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("It rose to $5 billion", "a rise to 5 billion", []),
        ("It rose to $5 billion", "a rise to €5 billion", ["5000000000usd"]),
        ("It fell 5%", "a change of -5%", []),
        ("It fell 5%", "a change of 6%", ["5%"]),
        ("In 2023", "on 1 May 2023", []),
        ("In May 2023", "on 1 May 2023", []),
        ("On 1 May 2023", "in May 2023", ["2023-05-01"]),
        ("On October 1, 2023", "as of October 1 each year, 2023 revision", []),
        ("5 km", "5 miles", ["5km"]),
        ("1,000", "1000", []),
        ("15", "1500", ["15"]),
        ("nothing", "", []),
    ],
)
def test_missing_numbers(claim, text, missing):
    assert missing_numbers(claim, text) == missing


def test_missing_numbers_over_several_places():
    assert missing_numbers("12 in 2020", "it was 12", "the year 2020") == []


def test_content_words():
    assert content_words("The exports of chips were restricted in 2024.") == content_words("Export chip restricting")
    assert content_words("中国经济") == ["中国", "国经", "经济"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The growth of the market is in the report and it is for all of us.", "en"),
        ("中国的经济增长了。", "zh"),
        ("日本の経済は成長した。", "ja"),
        ("경제가 성장했다.", "ko"),
        ("Рынок вырос на пять процентов.", "ru"),
        ("Der Markt ist mit der Zeit und für die Kunden nicht gewachsen.", "de"),
        ("نما السوق بنسبة كبيرة", "ar"),
        ("", None),
        ("12345", None),
    ],
)
def test_language(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Sales rose 5% in 2024.", "Sales rose 5% in 2024", True),
        ("Sales rose 5% in 2024.", "In 2024, sales rose 5%.", True),
        ("Sales rose 5% in 2024.", "Sales fell 5% in 2024.", False),
        ("Sales rose 5% in 2024.", "Sales rose 6% in 2024.", False),
        ("Sales rose in 2024.", "Sales did not rise in 2024.", False),
        ("The share of Japan rose by 5% in 2024.", "The share of China rose by 5% in 2024.", False),
        ("The drug is safe for adults over 65 years.", "The drug is unsafe for adults over 65 years.", False),
        ("人口增长了5%。", "人口增长了5%", True),
        ("人口增长了5%。", "人口下降了5%。", False),
        ("人口增长了。", "人口没有增长。", False),
    ],
)
def test_twins(one, other, same):
    assert are_twins(one, other) is same
    assert are_twins(other, one) is same


def test_signs():
    assert polarity("It did not rise") == polarity("It never increased")
    assert same_signs("It rose 5%", "up 5 percent")
    assert not same_signs("It rose 5%", "down 5 percent")
