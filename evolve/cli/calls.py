"""`evolve model calls`: prompts, answers and costs of a campaign's calls of models, from its log; and their export to a cassette."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from evolve import wording
from evolve.campaign import existing_path, workspace
from evolve.cli.output import brief, debug_option, emit, emit_all, facts, json_option, one_line, quoted, say, table
from evolve.log import Log
from evolve.models.cassette import RecordedAnswer, add_answers
from evolve.report import CallLine, WholeCall, call_line, whole_call
from evolve.types import Call, ConfigError, Replied, TextId, Usage

SHOWN = 20
_ERROR = 100
"""Characters of an error in the list."""
_REVISION = 100
"""Characters of the name that a server gives its model."""
_NOT_ASKED = ("check", "embed")
"""Purposes of calls that complete no prompt."""


@dataclass(frozen=True, slots=True)
class ExportedCassette:
    """Result of an export: `answers` are new in the cassette, `known` were there."""

    cassette: str
    answers: int
    known: int


@click.command("calls")
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
@debug_option
def list_calls(name: str | None, step: int | None, limit: int, cassette: Path | None, as_json: bool) -> None:
    """List the calls of campaign NAME, the newest last."""
    with Log.open(existing_path(workspace(), name), readonly=True) as log:
        if cassette is not None:
            _export(log, cassette, as_json=as_json)
        elif step is not None:
            _show(log, step, as_json=as_json)
        else:
            _list(log, limit, as_json=as_json)


def _replies(log: Log) -> Iterator[Replied]:
    for stamped in log.events(only=Replied):
        assert isinstance(stamped.event, Replied), "only such events were asked for"
        yield stamped.event


def _list(log: Log, limit: int, *, as_json: bool) -> None:
    lines = [call_line(replied) for replied in deque(_replies(log), limit or None)]
    if as_json:
        emit_all(lines)
    elif not lines:
        say(f"campaign {log.path.stem} has called no model")
    else:
        say(table(("step", "call", "purpose", "model", "tokens", "cost", "took", "ended"), map(_to_row, lines)))


def _to_row(line: CallLine) -> tuple[str, ...]:
    return (
        str(line.step),
        _format_index(line),
        line.purpose,
        line.model,
        _format_tokens(line),
        f"{line.cost:.4g}" if line.cost else "-",
        wording.seconds(line.seconds),
        _format_end(line),
    )


def _format_end(line: CallLine) -> str:
    """Formats how a call ended, and the causes of its requests that failed."""
    end = f"error: {one_line(line.error)[:_ERROR]}" if line.error else line.finish or "-"
    return f"{end} (failed requests: {wording.format_causes(line.retries)})" if line.retries else end


def _format_index(line: CallLine) -> str:
    """Formats a call's number in its step; one that was given up has none, and a check is in no step."""
    if line.index >= 0:
        return str(line.index)
    return "-" if line.purpose == "check" else "given up"


def _format_place(line: CallLine) -> str:
    if line.purpose == "check":
        return "none: to see whether the model answers, before a run"
    return f"{line.step}, {'a call that was given up' if line.index < 0 else f'call {line.index}'}, to {line.purpose}"


def _format_tokens(line: CallLine) -> str:
    """Formats the tokens of the prompt and of the answer; `~`: they are estimated."""
    return f"{'' if line.exact else '~'}{line.prompt_tokens:,} + {line.completion_tokens:,}"


def _show(log: Log, step: int, *, as_json: bool) -> None:
    found = [replied for replied in _replies(log) if replied.step == step]
    if not found:
        raise ConfigError(
            f"step {step} of campaign {log.path.stem!r} has called no model. Do: `evolve model calls {log.path.stem} --limit 0` shows which have"
        )
    for number, replied in enumerate(found):
        whole = whole_call(log, replied)
        if as_json:
            emit(whole)
        else:
            say(f"{'' if number == 0 else chr(10)}{_format_call(whole)}")


def _read_text(log: Log, name: str) -> str:
    return log.text(TextId(name)) if name else ""


def _format_call(whole: WholeCall) -> str:
    line = whole.call
    rows = [
        ("step", _format_place(line)),
        ("model", f"{line.model} {brief(one_line(line.revision), _REVISION)}".strip()),
        ("request", f"{line.request}, sample {line.sample}" if line.request else ""),
        ("parameters", " ".join(f"{key}={value}" for key, value in whole.parameters.items())),
        ("tokens", _format_tokens(line)),
        ("cost", f"{line.cost:.4g}" if line.cost else ""),
        ("took", f"{wording.seconds(line.seconds)}, {wording.counted(line.attempts, 'attempt')}"),
        ("failed requests", wording.format_causes(line.retries)),
        ("ended", line.finish),
        ("error", quoted(line.error) if line.error else ""),
    ]
    parts = [facts((label, text) for label, text in rows if text)]
    parts += [_format_block(f"{said.role}: {said.name}", said.text) for said in whole.prompt]
    parts += [_format_block("thinking", whole.thinking)] if whole.thinking else []
    parts += [] if line.error or not whole.prompt else [_format_block("reply", whole.reply)]
    return "\n\n".join(parts)


def _format_block(head: str, text: str) -> str:
    return f"--- {one_line(head)} ({len(text):,} characters)\n{quoted(text)}"


def _export(log: Log, path: Path, *, as_json: bool) -> None:
    answers = list(answers_of(log))
    if not answers:
        raise ConfigError(
            f"campaign {log.path.stem!r} has called no model, so there is nothing to record. Do: name another one"
        )
    _check_folder(path)
    try:
        added = add_answers(path, answers)
    except OSError as error:
        raise ConfigError(
            f"the cassette cannot be written to {str(path)!r}: {error.strerror}. Do: name another place"
        ) from error
    exported = ExportedCassette(str(path), added, len(answers) - added)
    if as_json:
        emit(exported)
    else:
        say(_format_export(log, exported))


def _check_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise ConfigError(
            f"the cassette cannot be written to {str(path)!r}: there is no such folder. Do: make it, or name another place"
        )


def _format_export(log: Log, exported: ExportedCassette) -> str:
    there = f", and {exported.known:,} were there" if exported.known else ""
    names = dict.fromkeys(replied.call.model for replied in _replies(log))
    models = " ".join(f"--model {name}=cassette:{exported.cassette}" for name in names)
    return (
        f"{exported.answers:,} answers were written to {exported.cassette}{there}; to replay them:\n"
        f"evolve campaign export-config {log.path.stem} search.toml\nevolve run -c search.toml {models}"
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
            yield _to_answer(
                log, call, call.sample - sum(sample < call.sample for sample in given_up.get(call.request, ()))
            )


def _to_answer(log: Log, call: Call, sample: int) -> RecordedAnswer:
    usage = Usage(call.prompt_tokens, call.completion_tokens, call.cached_tokens, call.exact)
    return RecordedAnswer(
        call.request,
        sample,
        reply=_read_text(log, call.reply),
        thinking=_read_text(log, call.thinking),
        finish=call.finish,
        usage=usage,
        revision=call.revision,
        error=call.error,
    )
