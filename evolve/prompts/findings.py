"""The section on what the evaluator found of the parent: numbers, words, artifacts.

Invariant: where the evaluator said something, it is there, in short at least."""

import re
from collections.abc import Iterator

from evolve.prompts.excerpts import stored
from evolve.prompts.quoting import DATA, fenced, said
from evolve.prompts.subject import Subject
from evolve.prompts.trimming import Draft, Piece
from evolve.types import Record

_NUMBERS = 24
"""Metrics that are told of one program."""
_LONG = re.compile(r"-?\b\d+\.\d{7,}(?:[eE][+-]?\d+)?\b")
"""Numbers in artifacts with more digits than it takes to see what they mean."""
_LEAST = 800
"""Characters that feedback has at least, where there is so much."""


def feedback(subject: Subject) -> Draft:
    """What the evaluator says of the parent: numbers, words, and artifacts. It is there wherever there is any, in short at least."""
    if not subject.parent:
        return Draft()
    record = subject.history.record(subject.parent)
    pieces = [*_numbers(record), *_words(subject, record), *_artifacts(subject, record)]
    return Draft(tuple(pieces), {"number": str(subject.parent)})


def _numbers(record: Record) -> Iterator[Piece]:
    evaluation = record.evaluation
    told = [
        f"{said(name)[1:-1]} = {value:.6g}" for name, value in {**evaluation.descriptors, **evaluation.metrics}.items()
    ]
    if told and not record.origin.case:
        yield Piece((f"Measured: {', '.join(told[:_NUMBERS])}.", ""), (98.0,))


def _words(subject: Subject, record: Record) -> Iterator[Piece]:
    """The whole feedback, as long as it takes a fifth of the prompt at most; else its beginning and its end, in the shortest form much
    less of both."""
    name = record.evaluation.feedback
    forms = [stored(subject.history, name, most) for most in (max(_LEAST, 4 * subject.tokens // 5), _LEAST)]
    if forms[0] and not record.origin.case:
        texts = tuple(f"{DATA}\n\n{fenced(text)}" for text in dict.fromkeys(forms))
        yield Piece(texts, (100.0,) * (len(texts) - 1))


def _artifacts(subject: Subject, record: Record) -> Iterator[Piece]:
    """Each as an excerpt, its numbers with six digits; together they take an eighth of the prompt at most."""
    if record.origin.case:
        return
    artifacts = record.evaluation.artifacts
    most = max(_LEAST, 4 * subject.tokens // 8 // max(1, len(artifacts)))
    for place, (name, text) in enumerate(artifacts.items()):
        shown = _LONG.sub(_short, stored(subject.history, str(text), most))
        if shown:
            heading = f"Artifact {said(name)}"
            forms = (f"{heading}. {DATA}\n\n{fenced(shown)}", f"{heading} does not fit in here.", "")
            yield Piece(forms, (97.0 - place / 64, 97.5 - place / 64))


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.6g}"
