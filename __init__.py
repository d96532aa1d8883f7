"""dream-eval: judge research reports with an agent that can search, read and check.

The documented call is :func:`dream_eval.evaluate`; everything else is imported from its package.
"""

__version__ = "0.1.0"
