"""What to evaluate, doing it, storing it: plan, engine, run folder, resume, summary.

The one call most people need is :func:`dream_eval.evaluate` (:func:`.api.evaluate` here).
"""
