"""Comparisons and experiments over finished runs, and over labels given by people.

Everything here reads runs through ``runs.reading`` and returns plain frozen data; the command line and the viewer show
it.
"""
