"""Modules of a slot's own processes, away from the worker: the process that makes the slot, the template in it, and the candidate's side of the
dialogue.

Standard library and siblings only. Nothing of the engine but this package, `walls` and the wire is ever loaded there."""
