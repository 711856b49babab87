"""Table of what servers do wrong, and what is done about it. The words of a server are redacted before they get here."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from evolve.types import Usage

FREE = Usage(exact=True)
SYSTEM = "system"
"""Name among the fields of a request for the system role, which some chat templates refuse."""


class Treatment(Enum):
    """Ways to handle a failed request."""

    GONE = "no call will succeed"
    FAILED = "this call cannot succeed"
    FIELD = "asked again without a field"
    RATE_LIMITED = "all calls of the model wait"
    DOWN = "asked again after a while"
    BAD_ANSWER = "asked again once, for it may have been paid"
    SILENT = "its time is up, and nothing came"
    CUT_OFF = "an answer without text, which used up its tokens"


class RequestFault(Exception):
    """One failed request. `cause` names the failure in a few words; `usage` is its possible cost, `retry_after` the pause in seconds that the
    server asks for (None: it does not say), and `field` the field of the request to leave out next time."""

    def __init__(
        self,
        treatment: Treatment,
        message: str,
        *,
        cause: str = "",
        usage: Usage = FREE,
        retry_after: float | None = None,
        field: str = "",
    ) -> None:
        super().__init__(message)
        self.treatment = treatment
        self.cause = cause or message.partition(". ")[0]
        self.usage = usage
        self.retry_after = retry_after
        self.field = field


@dataclass(frozen=True, slots=True)
class FaultRule:
    """Meaning of an answer with one of these statuses, whose code or message matches the pattern `words` (empty: any)."""

    statuses: Collection[int]
    words: str
    treatment: Treatment
    what: str
    remedy: str = ""


RULES = (
    FaultRule(
        (400, 402, 403, 429),
        r"insufficient_quota|billing_hard_limit|billing_not_active|insufficient (?:balance|credits|funds)|credit balance is too low",
        Treatment.GONE,
        "the account's quota is used up",
        "raise it or pay, then continue the campaign",
    ),
    FaultRule((402,), "", Treatment.GONE, "the account wants to be paid", "pay, then continue the campaign"),
    FaultRule((401,), "", Treatment.GONE, "the key was refused", "{key}"),
    FaultRule(
        (400, 403, 404, 422),
        r"model_not_found|model_not_exist|unknown model|invalid model|no such model|model\b.{0,120}?(?:not found|not exist|not a valid|not available)|not a valid model",
        Treatment.GONE,
        "it does not know the model, or the key may not use it",
        "`evolve model ping` lists the models that it has",
    ),
    FaultRule((403,), "", Treatment.GONE, "access was denied", "{key}"),
    FaultRule((404, 405, 410), "", Treatment.GONE, "there is no such page", "correct `base_url`; most end with /v1"),
    FaultRule(
        range(300, 400), "", Treatment.GONE, "it sends calls to another address", "write that address as `base_url`"
    ),
    FaultRule(
        (400, 413, 422, 500),
        r"context_length|context length|context window|context size|exceed_context|prompt is too long|too many tokens|input is too long|string_above_max_length",
        Treatment.FAILED,
        "the prompt is longer than the model's context length",
        "set `context_tokens` of the model to what it has",
    ),
    FaultRule((413,), "", Treatment.FAILED, "the prompt is too long for it", "lower `context_tokens` of the model"),
    FaultRule(
        (400,), r"could not finish the message because max_tokens", Treatment.CUT_OFF, "its answer was all thinking"
    ),
    FaultRule(
        (400, 422),
        r"max(?:_completion)?_tokens.{0,80}?(?:too large|at most|exceed|less than|maximum)",
        Treatment.FAILED,
        "it does not write answers as long as `max_tokens` of the model",
        "lower it",
    ),
    FaultRule(
        (400, 403, 422),
        r"content_policy|content_filter|content management policy|safety system",
        Treatment.FAILED,
        "it will not answer this prompt",
    ),
    FaultRule(
        (429,), "", Treatment.RATE_LIMITED, "it wants fewer calls", "try later, or lower `concurrency` of the model"
    ),
    FaultRule((501, 505), "", Treatment.FAILED, "it cannot do this"),
    FaultRule(
        (408, 409, 425, *range(500, 600)), "", Treatment.DOWN, "it failed", "see what its log says, or try later"
    ),
    FaultRule((), "", Treatment.FAILED, "it refused the call", "correct the settings of the model, or of the server"),
)
"""The first rule that fits decides; the last fits all."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Error as a server words it, redacted: `code` and `parameter` where it names them, `retry_after` in seconds."""

    status: int
    message: str
    code: str = ""
    parameter: str = ""
    retry_after: float | None = None


def diagnose(said: Refusal, sent: Collection[str] = (), key_remedy: str = "", usage: Usage = FREE) -> RequestFault:
    """Returns the fault that a refusal is; `sent` are the fields of the request that can be left out."""
    words = f"{said.code} {said.message}"
    # Statuses alone do not tell: 400 is a long prompt here and a used-up account there.
    rule = next(rule for rule in RULES if _fits(rule, said.status, words))
    field = (
        find_blamed_field(said.parameter, said.message, sent) if rule is RULES[-1] and said.status in (400, 422) else ""
    )
    remedy = f". Try: {rule.remedy.format(key=key_remedy)}" if rule.remedy else ""
    words = shorten(said.message)
    message = f"{rule.what} (status {said.status}{': ' * bool(words)}{words}){remedy}"
    treatment = Treatment.FIELD if field else rule.treatment
    cause = "429 (rate limited)" if treatment is Treatment.RATE_LIMITED else str(said.status)
    return RequestFault(treatment, message, cause=cause, usage=usage, retry_after=said.retry_after, field=field)


def shorten(text: str) -> str:
    """Returns a server's words on one line, at most 300 characters, without control characters."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text[:2000])
    return " ".join(shown.split())[:300].rstrip(".")


def _fits(rule: FaultRule, status: int, words: str) -> bool:
    if rule.statuses and status not in rule.statuses:
        return False
    return not rule.words or re.search(rule.words, words, re.IGNORECASE) is not None


def find_blamed_field(parameter: str, message: str, sent: Collection[str]) -> str:
    """Returns the field of a request that an error names first; empty where it names none that was sent."""
    if parameter in sent:
        return parameter
    found = [(match.start(), name) for name in sent if (match := re.search(_pattern_of(name), message))]
    return min(found)[1] if found else ""


def _pattern_of(name: str) -> str:
    """Returns a pattern for a field in a message; a name that is a common word, too, stands in quotes there or before a verb."""
    if name == SYSTEM:
        return r"(?i:system role|role.{0,12}system|system (?:messages?|prompts?)|roles must alternate)"
    if name == "n":
        return r"(?<![\w'])(?:['\"`]n['\"`]|n(?=\s*[=:>]|\s+(?:must|is|should|greater|larger|parameter)))|[:,]\s*n(?=,|\s*$)"
    return rf"(?<!\w){name}(?!\w)"


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds that a server wants to be left alone, by `retry-after-ms` or `Retry-After`; None where neither has a number."""
    # The finer one, where a server sends both.
    milliseconds = _parse_seconds(headers.get("retry-after-ms", ""))
    return _parse_seconds(headers.get("retry-after", "")) if milliseconds is None else milliseconds / 1000


def _parse_seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None
