"""Looking at the world: search, pages, arXiv, GitHub and corpora, behind one guard and the ledger.

Importing this is cheap: what opens connections or parses documents is loaded by :func:`open_toolbox`.
"""

from .build import Built, build_corpus
from .copies import independent, is_copy
from .corpus import Corpus, Document, corpus_digest
from .data import Hit, Page, Paper, PaperList, Passage, Repository, RepositoryList, SearchResult
from .hosts import HostKind, kind_of_host, page_key, registrable_domain, unwrap
from .keys import known_keys, secret_values
from .limits import Endpoints, NoSuchHost, ToolLimits
from .passages import PassageIndex, best_passages
from .toolbox import DEFAULT_SEARCH, Toolbox, open_toolbox

__all__ = [
    "DEFAULT_SEARCH",
    "Built",
    "Corpus",
    "Document",
    "Endpoints",
    "Hit",
    "HostKind",
    "NoSuchHost",
    "Page",
    "Paper",
    "PaperList",
    "Passage",
    "PassageIndex",
    "Repository",
    "RepositoryList",
    "SearchResult",
    "ToolLimits",
    "Toolbox",
    "best_passages",
    "build_corpus",
    "corpus_digest",
    "independent",
    "is_copy",
    "kind_of_host",
    "known_keys",
    "open_toolbox",
    "page_key",
    "registrable_domain",
    "secret_values",
    "unwrap",
]
