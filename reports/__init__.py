"""The report as data: loaders, cleaner, segments, sentences, citations, claims. No model is asked here."""

from __future__ import annotations

from .addressed import orders, speaks_to_a_model
from .claims import Batch, Proposal, batches, freeze_claims, mark_of, marks_of, sources_of
from .cleaner import given_offset, restore, uncut
from .data import (
    Claim,
    ClaimList,
    Cut,
    Finding,
    Mark,
    Report,
    Segment,
    SegmentKind,
    Sentence,
    Source,
    SourceKind,
    Span,
)
from .from_html import html_to_markdown
from .lints import RULES, lint_report
from .loaders import iter_reports, load_bytes, load_reports
from .numbers import missing_numbers, numbers_in
from .overview import Overview, cited_sentences, lint_json, overview
from .parse import read_report, report_digest, word_count
from .sentences import split_sentences
from .similar import are_twins, polarity, same_signs
from .tasks import iter_join, join, load_tasks, search_language, task_language
from .text import content_words, fold, language_of, scalar, scalar_json
from .urls import find_arxiv, find_doi, host_of, normalise_url, unwrap_url
from .view import line_of, numbered, sentence_of

__all__ = [
    "RULES",
    "Batch",
    "Claim",
    "ClaimList",
    "Cut",
    "Finding",
    "Mark",
    "Overview",
    "Proposal",
    "Report",
    "Segment",
    "SegmentKind",
    "Sentence",
    "Source",
    "SourceKind",
    "Span",
    "are_twins",
    "batches",
    "cited_sentences",
    "content_words",
    "find_arxiv",
    "find_doi",
    "fold",
    "freeze_claims",
    "given_offset",
    "host_of",
    "html_to_markdown",
    "iter_join",
    "iter_reports",
    "join",
    "language_of",
    "line_of",
    "lint_json",
    "lint_report",
    "load_bytes",
    "load_reports",
    "load_tasks",
    "mark_of",
    "marks_of",
    "missing_numbers",
    "normalise_url",
    "numbered",
    "numbers_in",
    "orders",
    "overview",
    "polarity",
    "read_report",
    "report_digest",
    "restore",
    "same_signs",
    "scalar",
    "scalar_json",
    "search_language",
    "sentence_of",
    "sources_of",
    "speaks_to_a_model",
    "split_sentences",
    "task_language",
    "uncut",
    "unwrap_url",
    "word_count",
]
