"""Edits: from a model's reply to programs.

Only text inside the blocks changes; an edit that fits nowhere, or in two places, is an error that says so and no guess."""

from evolve.edits.changes import find_syntax_error, matches, refusal
from evolve.edits.children import read_child
from evolve.edits.errors import EditFailed, EditKind
from evolve.edits.reply import EditedProgram, read

__all__ = ["EditedProgram", "EditFailed", "EditKind", "find_syntax_error", "matches", "read", "read_child", "refusal"]
