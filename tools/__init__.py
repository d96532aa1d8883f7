"""Looking at the world: search, pages, arXiv, GitHub and corpora, behind one guard and the ledger."""
