"""Costs as text: calls, tokens, money, and the time of one's own GPUs. Amounts that a campaign has not spent are left out."""

from collections.abc import Sequence

from evolve import wording
from evolve.report import CostLine, Costs
from evolve.stop import duration, spelled
from evolve.types import Progress


def spent(progress: Progress, failed: int = 0, failed_requests: int = 0) -> str:
    """Formats the amounts that models have spent: `214 calls (3 failed, 12 requests failed), 512,300 tokens, 1.23 usd`."""
    failures = [f"{failed:,} failed"] if failed else []
    failures += [f"{wording.counted(failed_requests, 'request')} failed"] if failed_requests else []
    calls = spelled("calls", progress.calls) + (f" ({', '.join(failures)})" if failures else "")
    parts = [calls, spelled("tokens", progress.tokens)]
    return ", ".join([*parts, *_format_money(progress.money, progress.gpu_seconds)])


def _format_money(money: float, gpu_seconds: float) -> list[str]:
    parts = [spelled("money", money)] if money else []
    return [*parts, spelled("gpu_seconds", gpu_seconds)] if gpu_seconds else parts


def line(cost: CostLine, name: str = "") -> str:
    """Formats one line: `diff: 120 calls (3 failed), 301,000 tokens in (250,000 cached), 61,000 out, 0.84 usd, 25 min 3 s, 95% exact`."""
    failed = f" ({cost.failed:,} failed)" if cost.failed else ""
    cached = f" ({cost.cached_tokens:,} cached)" if cost.cached_tokens else ""
    parts = [
        f"{spelled('calls', cost.calls)}{failed}",
        f"{spelled('tokens', cost.prompt_tokens)} in{cached}",
        f"{cost.completion_tokens:,} out",
        *_format_money(cost.money, cost.gpu_seconds),
        duration(cost.seconds),
        f"{cost.exact:.0%} exact",
    ]
    told = name or cost.name
    return ": ".join([*([told] if told else []), ", ".join(parts)])


def facts_of(costs: Costs) -> list[tuple[str, str]]:
    """Returns labels and texts about all calls of a campaign."""
    return [
        ("calls", _lines(costs.purposes, "")),
        ("cost by model", _lines(costs.models, "")),
        ("cost by operator", _lines(costs.operators, "before any step")),
    ]


def _lines(costs: Sequence[CostLine], unnamed: str) -> str:
    return "\n".join(line(cost, cost.name or unnamed) for cost in costs)
