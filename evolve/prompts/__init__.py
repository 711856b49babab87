"""Prompts for models, from a selection and the campaign's history.

A prompt is a function of the step's `Asked` and the log before it; what a program or a model wrote stands in it as a quotation."""

from evolve.prompts.builder import build, repair
from evolve.prompts.quoting import quote_inline, quote_text
from evolve.prompts.templates import KINDS, PLACES, check, from_folder, list_bundled

__all__ = ["KINDS", "PLACES", "build", "list_bundled", "check", "from_folder", "quote_inline", "quote_text", "repair"]
