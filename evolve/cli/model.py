"""`evolve model`: the kinds of models that there are, whether a model answers, and what a campaign has asked, from its log."""

import dataclasses
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evolve import wording
from evolve.campaign import existing_path, workspace
from evolve.cli.groups import noun_group
from evolve.cli.output import (
    brief,
    emit,
    emit_all,
    facts,
    flat,
    json_option,
    one_line,
    quote,
    quote_section,
    say,
    table,
)
from evolve.cli.run import announce_calls
from evolve.config import ModelSection, validate_settings
from evolve.hookspecs import ModelEntry
from evolve.log import Log
from evolve.model_specs import parse_models, read_campaign_file
from evolve.models.cassette import RecordedAnswer, add_answers
from evolve.plugins import Plugins, guarded, load
from evolve.report import CallLine, WholeCall, call_line, whole_call
from evolve.types import Call, ConfigError, EvolveError, RecordId, Replied, TextId, Usage

SHOWN = 20
_ERROR = 100
"""Characters of an error in the list, and of the name that a server gives its model."""
_NOT_ASKED = ("check", "embed")
"""Purposes of calls that complete no prompt."""


@noun_group
def model() -> None:
    """List kinds of models, see whether a model answers, and what a campaign has asked."""


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model. `argument` is the setting that the command line's words fill; `settings` have their defaults, null where there is
    none."""

    kind: str
    plugin: str
    argument: str
    settings: Mapping[str, Any]
    concurrency: int
    priced: bool
    embeds: bool


@model.command("list")
@json_option
def list_models(as_json: bool) -> None:
    """List the kinds of models with how each is written after --model."""
    kinds = [_describe_kind(name, found.plugin, found.entry) for name, found in sorted(load().models.items())]
    if as_json:
        emit_all(kinds)
        return
    rows = [
        (
            kind.kind,
            kind.plugin,
            f"{kind.kind}:{kind.argument.upper()}" if kind.argument else "-",
            str(kind.concurrency),
            ", ".join(kind.settings) or "-",
        )
        for kind in kinds
    ]
    say(table(("kind", "plugin", "--model", "at once", "settings"), rows, wrap="settings"))


def _describe_kind(name: str, plugin: str, entry: ModelEntry) -> ModelKind:
    fields = {} if entry.settings is None else entry.settings.model_fields
    settings = {
        key: None if field.is_required() else field.get_default(call_default_factory=True)
        for key, field in fields.items()
    }
    return ModelKind(name, plugin, entry.argument, settings, entry.concurrency, entry.priced, entry.embeds)


@dataclass(frozen=True, slots=True)
class PingResult:
    """Result of one check. Where the model does not answer, `error` says why."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    seconds: float = 0.0
    tokens: int = 0
    error: str = ""


@model.command("ping")
@click.argument("specs", metavar="[SPEC]...", nargs=-1)
@click.option("-c", "--config", "config", metavar="FILE", help="A campaign file: all of its models.")
@json_option
def ping_models(specs: tuple[str, ...], config: str | None, as_json: bool) -> None:
    """Call each model once, as little as its kind allows. SPEC is written as for `evolve run --model`.

    Exit code 1 where one cannot be called, with the reason: no key, a refused connection, an unknown model.
    """
    plugins = load()
    sections = parse_models(specs, plugins)
    if config is not None:
        sections += validate_settings({"task": "none", **read_campaign_file(Path(config), plugins)}).models.members
    if not sections:
        raise ConfigError(
            "there is no model to call. Try: name one, such as gpt-5-mini, or a campaign file that has one (-c)"
        )
    failures: list[EvolveError] = []
    for section in sections:
        found, failure = _ping(section, plugins)
        if as_json:
            emit(found)
        elif failure is None:
            say(f"{facts(_format_ping(found))}\n")
        failures += [] if failure is None else [failure]
    for failure in failures[:-1]:
        say(f"evolve: {failure}", err=True)
    if failures:
        raise failures[-1]


def _ping(section: ModelSection, plugins: Plugins) -> tuple[PingResult, EvolveError | None]:
    began = time.monotonic()
    result = PingResult(section.name, section.kind, section.settings)
    try:
        with announce_calls([section.name]), closing(plugins.model(section.kind, section.settings)) as model:
            usage = guarded(section.kind, model.check, began + section.timeout_seconds, threading.Event())
    except EvolveError as error:
        name = f"model {section.name!r}"
        named = error if str(error).startswith(name) else type(error)(f"{name}: {error}")
        return dataclasses.replace(result, error=str(named)), named
    tokens = usage.prompt_tokens + usage.completion_tokens
    return dataclasses.replace(result, seconds=time.monotonic() - began, tokens=tokens), None


def _format_ping(found: PingResult) -> list[tuple[str, str]]:
    took = f", {found.tokens:,} tokens" if found.tokens else ""
    return [
        ("model", f"{found.name} ({found.kind})"),
        ("settings", " ".join(f"{key}={value}" for key, value in flat(found.settings))),
        ("can be called", f"yes, found out in {found.seconds:.2f} s{took}"),
    ]


@model.command("calls")
@click.argument("name", required=False)
@click.option(
    "--step", type=int, metavar="N", help="The calls of one step, with all sections of their prompts and the replies."
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=SHOWN,
    show_default=True,
    help="How many, the last ones; 0 means all.",
)
@click.option(
    "--cassette",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the answers to a cassette.",
)
@json_option
def list_calls(name: str | None, step: int | None, limit: int, cassette: Path | None, as_json: bool) -> None:
    """List the calls of campaign NAME, the newest first."""
    with Log.open(existing_path(workspace(), name), readonly=True) as log:
        if cassette is not None:
            _export(log, cassette, as_json=as_json)
        elif step is not None:
            _show(log, step, as_json=as_json)
        else:
            _list(log, limit, as_json=as_json)


def _replies(log: Log) -> Iterator[Replied]:
    for _, replied in _numbered_replies(log):
        yield replied


def _numbered_replies(log: Log) -> Iterator[tuple[int, Replied]]:
    """Yields the calls with the numbers of their events."""
    for stamped in log.events(only=Replied):
        assert isinstance(stamped.event, Replied), "only such events were asked for"
        yield stamped.number, stamped.event


def _list(log: Log, limit: int, *, as_json: bool) -> None:
    replies = deque(_numbered_replies(log), limit or None)
    lines = [call_line(replied) for _, replied in reversed(replies)]
    if as_json:
        emit_all(lines)
    elif not lines:
        say(f"campaign {log.path.stem} has called no model")
    else:
        made = log.outcomes_by_step(since=replies[0][0])
        headings = ("step", "call", "purpose", "model", "tokens", "cost", "took", "ended", "records of the step")
        say(table(headings, (_to_row(line, made.get(line.step, ()) if line.step else ()) for line in lines)))


def _to_row(line: CallLine, made: Sequence[tuple[RecordId, str]]) -> tuple[str, ...]:
    end = f"error: {one_line(line.error)[:_ERROR]}" if line.error else line.finish or "-"
    return (
        str(line.step),
        _format_index(line),
        line.purpose,
        line.model,
        _format_tokens(line),
        f"{line.cost:.4g}" if line.cost else "-",
        # The log keeps no duration of a check.
        wording.seconds(line.seconds) if line.seconds else "-",
        f"{end} (failed requests: {wording.format_causes(line.retries)})" if line.retries else end,
        ", ".join(f"{record} {outcome}" for record, outcome in made) or "-",
    )


def _format_index(line: CallLine) -> str:
    """Formats a call's number in its step; one that was given up has none, and a check is in no step."""
    if line.index >= 0:
        return str(line.index)
    return "-" if line.purpose == "check" else "given up"


def _format_tokens(line: CallLine) -> str:
    """Formats the tokens of the prompt and of the answer; `~`: they are estimated."""
    return f"{'' if line.exact else '~'}{line.prompt_tokens:,} + {line.completion_tokens:,}"


def _show(log: Log, step: int, *, as_json: bool) -> None:
    calls = [whole_call(log, replied) for replied in _replies(log) if replied.step == step]
    if not calls:
        raise ConfigError(
            f"step {step} of campaign {log.path.stem!r} has called no model. Try: `evolve model calls {log.path.stem} --limit 0` shows which have"
        )
    if as_json:
        emit_all(calls)
    else:
        say("\n\n".join(map(_format_call, calls)))


def _format_call(whole: WholeCall) -> str:
    line = whole.call
    rows = [
        ("call", f"{_format_index(line)} of step {line.step}, to {line.purpose}"),
        ("model", f"{line.model} {brief(one_line(line.revision), _ERROR)}".strip()),
        ("request", f"{line.request}, sample {line.sample}" if line.request else ""),
        ("parameters", " ".join(f"{key}={value}" for key, value in whole.parameters.items())),
        ("tokens", _format_tokens(line)),
        ("cost", f"{line.cost:.4g}" if line.cost else ""),
        ("took", f"{wording.seconds(line.seconds)}, {wording.counted(line.attempts, 'attempt')}"),
        ("failed requests", wording.format_causes(line.retries)),
        ("ended", line.finish),
        ("error", quote(line.error) if line.error else ""),
    ]
    parts = [facts((label, text) for label, text in rows if text)]
    parts += [quote_section(f"{said.role}: {said.name}", said.text) for said in whole.prompt]
    parts += [quote_section("thinking", whole.thinking)] if whole.thinking else []
    parts += [] if line.error or not whole.prompt else [quote_section("reply", whole.reply)]
    return "\n\n".join(parts)


def _export(log: Log, path: Path, *, as_json: bool) -> None:
    answers, name = list(answers_of(log)), log.path.stem
    if not answers:
        raise ConfigError(
            f"campaign {name!r} has called no model, so there is nothing to record. Try: name another one"
        )
    try:
        added = add_answers(path, answers)
    except OSError as error:
        raise ConfigError(
            f"the cassette cannot be written to {str(path)!r}: {error.strerror}. Try: name another place"
        ) from error
    models = dict.fromkeys(replied.call.model for replied in _replies(log))
    options = " ".join(f"--model {model}=cassette:{path}" for model in models)
    if as_json:
        emit({"cassette": str(path), "answers": added, "known": len(answers) - added})
        return
    say(
        f"{added:,} of {len(answers):,} answers are new in {path}; to replay them:\n"
        f"evolve campaign config {name} > search.toml\nevolve run -c search.toml {options}"
    )


def answers_of(log: Log) -> Iterator[RecordedAnswer]:
    """Yields the answers of a campaign as a cassette has them. A call that was given up when a run ended is left out, and the samples of its prompt are
    counted as if it had never been made: a run that nobody stops asks for them so."""
    asked = [replied for replied in _replies(log) if replied.call.prompt and replied.call.purpose not in _NOT_ASKED]
    given_up: dict[str, list[int]] = {}
    for replied in asked:
        if replied.index < 0:
            given_up.setdefault(replied.call.request, []).append(replied.call.sample)
    for replied in asked:
        call = replied.call
        if replied.index >= 0:
            skipped = sum(sample < call.sample for sample in given_up.get(call.request, ()))
            yield _to_answer(log, call, call.sample - skipped)


def _to_answer(log: Log, call: Call, sample: int) -> RecordedAnswer:
    reply, thinking = (log.text(TextId(name)) if name else "" for name in (call.reply, call.thinking))
    return RecordedAnswer(
        call.request,
        sample,
        reply=reply,
        thinking=thinking,
        finish=call.finish,
        usage=Usage(call.prompt_tokens, call.completion_tokens, call.cached_tokens, call.exact),
        revision=call.revision,
        error=call.error,
    )
