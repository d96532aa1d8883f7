"""The report as data: loaders, cleaner, segments, sentences, citations, claims. No model is asked here."""

from __future__ import annotations

from .claims import Batch, Proposal, batches, freeze_claims, mark_of, marks_of, sources_of
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
from .numbers import missing_numbers, numbers_in
from .parse import read_report
from .sentences import split_sentences
from .similar import are_twins, polarity, same_signs
from .text import content_words, fold, language_of
from .urls import find_arxiv, find_doi, host_of, normalise_url, unwrap_url
from .view import line_of, numbered, sentence_of

__all__ = [
    "Batch",
    "Claim",
    "ClaimList",
    "Cut",
    "Finding",
    "Mark",
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
    "content_words",
    "find_arxiv",
    "find_doi",
    "fold",
    "freeze_claims",
    "host_of",
    "language_of",
    "line_of",
    "mark_of",
    "marks_of",
    "missing_numbers",
    "normalise_url",
    "numbered",
    "numbers_in",
    "polarity",
    "read_report",
    "same_signs",
    "sentence_of",
    "sources_of",
    "split_sentences",
    "unwrap_url",
]
