"""Hostile candidates, and what must happen to each: the promise of a level, in a form that can be run."""
