"""Everything built on smolagents: protocol creator, plan verifier, sandboxed executor, model bridge."""
