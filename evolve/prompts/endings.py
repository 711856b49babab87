"""How the judging of a proposal that has no score ended, in a few words: its class, and its message.

Invariant: the message is a quotation within a line."""

from evolve.prompts.excerpts import stored
from evolve.prompts.quoting import said
from evolve.protocols import History
from evolve.types import FAILURES, Outcome, Record

_WORDS = 240
_FIRST = 4000
"""Characters of a feedback in which its message is looked for."""
_ENDS = {
    **{outcome: f"failed, {outcome.value}" for outcome in FAILURES},
    Outcome.SCREENED: "not judged",
    Outcome.INTERNAL: "not judged, the machinery failed",
    Outcome.BELOW_THRESHOLD: "stopped, below the threshold of a stage",
}


def ended(history: History, record: Record) -> str:
    """The class and the message."""
    message = said(reason(history, record), _WORDS)
    return f"{_ENDS.get(record.evaluation.outcome, record.evaluation.outcome.value)}{message and ': ' + message}"


def reason(history: History, record: Record) -> str:
    """The last line of the first paragraph of its feedback: the error itself, where that is a traceback. Without feedback and a program,
    its thought."""
    lines = stored(history, record.evaluation.feedback, _FIRST).strip().split("\n\n", 1)[0].splitlines()
    if lines:
        return lines[-1]
    return "" if record.program else record.thought
