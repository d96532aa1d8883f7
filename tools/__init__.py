"""Looking at the world: search, pages, arXiv, GitHub and corpora, behind one guard and the ledger.

Names are loaded when they are first used, so that a parsing process, which imports this package too, starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .build import Built, build_corpus
    from .copies import independent, is_copy
    from .corpus import Corpus, Document, corpus_digest
    from .data import CodeFile, CodeList, Hit, Page, Paper, PaperList, Passage, Repository, RepositoryList, SearchResult
    from .hosts import HostKind, host_entry, kind_of_host, page_key, registrable_domain, unwrap
    from .keys import known_keys, secret_values
    from .limits import Endpoints, NoSuchHost, ToolLimits
    from .passages import PassageIndex, best_passages, index_of
    from .toolbox import DEFAULT_SEARCH, Toolbox, open_toolbox

_HOME = {
    name: module
    for module, names in {
        "build": "Built build_corpus",
        "copies": "independent is_copy",
        "corpus": "Corpus Document corpus_digest",
        "data": "CodeFile CodeList Hit Page Paper PaperList Passage Repository RepositoryList SearchResult",
        "hosts": "HostKind host_entry kind_of_host page_key registrable_domain unwrap",
        "keys": "known_keys secret_values",
        "limits": "Endpoints NoSuchHost ToolLimits",
        "passages": "PassageIndex best_passages index_of",
        "toolbox": "DEFAULT_SEARCH Toolbox open_toolbox",
    }.items()
    for name in names.split()
}

__all__ = [
    "DEFAULT_SEARCH",
    "Built",
    "CodeFile",
    "CodeList",
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
    "host_entry",
    "independent",
    "index_of",
    "is_copy",
    "kind_of_host",
    "known_keys",
    "open_toolbox",
    "page_key",
    "registrable_domain",
    "secret_values",
    "unwrap",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
