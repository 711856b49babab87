"""Folder as a model: every prompt becomes a file, and the reply is a file that appears beside it, written by a person or by any program.

A question that was asked before, by this engine or by one that was killed, finds the file of its prompt and the answer that was given
meanwhile; a prompt is there whole or not at all, and a reply that is still being written is waited for."""

import errno
import os
import re
import stat
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evolve.atomic_write import atomic_write
from evolve.models.transcript import call_name, format_transcript, to_reply
from evolve.types import ModelDown, ModelError, ModelGone, Prompt, Reply, Usage

LOOK_SECONDS = 1.0
"""Seconds between two looks of a call at the folder."""
LONGEST_REPLY = 1 << 22
"""Bytes."""
DONE = "done"
"""Subfolder with the answered pairs."""
PROMPT, REPLY = ".md", ".reply.md"
_NAME = re.compile(r"[0-9a-f]+-[0-9]+")
"""Name of a prompt, as `call_name` gives it."""
_PERMANENT = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)
"""Errors that no waiting mends."""


class MailboxSettings(BaseModel):
    """Settings of the kind `mailbox`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path = Field(description="where prompts and replies lie; made where it is missing", examples=["mail"])


@dataclass(eq=False, slots=True)
class _OpenQuestion:
    """Question of a call that waits. `seen` is its reply at the last look, by size and time of change: unchanged at the next one, it is complete."""

    name: str
    prompt: Prompt
    seen: tuple[int, int] | None = None


class Mailbox:
    """Implements `Model`. Deadlines are not heeded, for people take their time."""

    def __init__(self, folder: Path, look_seconds: float = LOOK_SECONDS) -> None:
        self.folder = folder.expanduser().absolute()
        self._done = self.folder / DONE
        self._look_seconds = look_seconds
        self._lock = threading.Lock()
        self._questions: list[_OpenQuestion] = []

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Makes the folder, and a file in it for a moment; raises `ModelError`."""
        try:
            self._done.mkdir(parents=True, exist_ok=True)
            trial = self.folder / f".trial.{os.getpid()}"
            trial.write_bytes(b"")
            trial.unlink()
            next(self.folder.iterdir(), None)
        except OSError as error:
            raise self._explain_error(error) from error
        return Usage()

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """Posts the prompts of all samples together, and waits for each answer."""
        began = time.monotonic()
        try:
            self._done.mkdir(parents=True, exist_ok=True)
            questions = [_OpenQuestion(call_name(prompt.request, sample), prompt) for sample in samples]
            self._wait([question for question in questions if not self._is_done(question)], cancelled)
            answers = [self._take(question.name) for question in questions]
        except OSError as error:
            raise self._explain_error(error) from error
        except ModelError as error:
            error.seconds = time.monotonic() - began
            raise
        return [_to_reply(prompt, answer, time.monotonic() - began) for answer in answers]

    def close(self) -> None:
        """Does nothing; open questions stay in the folder."""

    def _is_done(self, question: _OpenQuestion) -> bool:
        return self._find_answer(self._done / question.name) is not None

    def _wait(self, questions: Sequence[_OpenQuestion], cancelled: threading.Event) -> None:
        with self._lock:
            # A call waits for an equal prompt of another call that is open, so that nobody is asked the same twice at a time.
            for question in questions[:1]:
                twins = [other.name for other in self._questions if other.prompt.request == question.prompt.request]
                question.name = twins[0] if twins else question.name
            self._questions += questions
        waiting = questions
        try:
            while waiting := [question for question in waiting if not self._look(question)]:
                if cancelled.wait(self._look_seconds):
                    raise ModelError("the call was cancelled; its prompt stays in the mailbox, to be answered")
        finally:
            with self._lock:
                self._questions = [question for question in self._questions if question not in questions]

    def _look(self, question: _OpenQuestion) -> bool:
        """Returns whether there is an answer, complete. Another engine may have taken it, and somebody may have removed the prompt."""
        found = self._find_answer(self.folder / question.name) or self._find_answer(self._done / question.name)
        if found is None:
            self._post(question)
        # A reply that has changed since the last look is still being written.
        before, question.seen = question.seen, found
        return found is not None and found == before

    def _post(self, question: _OpenQuestion) -> None:
        place = self.folder / f"{question.name}{PROMPT}"
        if not place.exists():
            whole = self.folder / f".{question.name}.{os.getpid()}.{threading.get_ident()}"
            whole.write_bytes(_format_letter(question).encode("utf-8", "surrogatepass"))
            whole.replace(place)

    def _find_answer(self, place: Path) -> tuple[int, int] | None:
        """Returns size and time of change of the file that answers the prompt at `place` (a path without its ending); None without one."""
        with suppress(FileNotFoundError):
            status = place.with_name(place.name + REPLY).stat()
            return (status.st_size, status.st_mtime_ns) if status.st_size else None
        return None

    def _take(self, name: str) -> str | None:
        """Returns the text of an answer, None for a refusal; moves it and its prompt to the answered ones."""
        try:
            data = self._read(name)
        except OSError as error:
            raise ModelError(
                f"{name}{REPLY} cannot be read: {error.strerror}. Try: answer in a file that the engine may read"
            ) from error
        for ending in (PROMPT, REPLY):
            with suppress(FileNotFoundError):
                (self.folder / f"{name}{ending}").replace(self._done / f"{name}{ending}")
        if len(data) > LONGEST_REPLY:
            raise ModelError(f"{name}{REPLY} has more than {LONGEST_REPLY:,} bytes. Try: answer in fewer words")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ModelError(f"{name}{REPLY} is no text in UTF-8: {error}. Try: save answers as UTF-8") from error
        return None if text.strip().casefold() == "skip" else text

    def _read(self, name: str) -> bytes:
        """Reads the reply, no more of it than shows that it is too long."""
        for folder in (self.folder, self._done):
            with suppress(FileNotFoundError), (folder / f"{name}{REPLY}").open("rb") as file:
                return file.read(LONGEST_REPLY + 1)
        raise ModelError(f"the answer to {name} is gone from {self.folder}. Try: leave answers where they are")

    def _explain_error(self, error: OSError) -> ModelError:
        kind = ModelGone if error.errno in _PERMANENT else ModelDown
        return kind(
            f"the mailbox {str(self.folder)!r} cannot be used: {error.strerror}. "
            "Try: name a folder that you may read and write, --model mailbox:DIR"
        )


def _format_letter(question: _OpenQuestion) -> str:
    """Formats the prompt below a head for whoever answers."""
    name, most = question.name, question.prompt.max_tokens
    bound = f" It may have {most:,} tokens at most (about {4 * most:,} characters)." if most else ""
    return (
        f"# {name}\n\n"
        f"Answer in a new file beside this one, `{name}{REPLY}`.{bound} Write it under another name and rename it when it is whole. "
        "The answer `skip` alone refuses to answer.\n\n"
        "Everything below is the prompt. A line of `====` says who speaks: `system` gives the rules, `user` asks, `assistant` is an earlier answer.\n\n"
        f"{format_transcript(question.prompt, name)}"
    )


@dataclass(frozen=True, slots=True)
class WaitingPrompt:
    """A prompt that nobody has answered, by its name, and since when it lies there, in seconds since 1970."""

    name: str
    at: float


def list_prompts(folder: Path) -> list[WaitingPrompt]:
    """Returns the prompts in a mailbox that have no reply, the one that waits longest first; none where the folder cannot be read."""
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            name = path.name.removesuffix(PROMPT)
            if path.name == f"{name}{PROMPT}" and _NAME.fullmatch(name) and not _is_answered(folder, name):
                with suppress(FileNotFoundError):
                    status = path.lstat()
                    # A link is no prompt that an engine has put there, and may lead anywhere.
                    found += [WaitingPrompt(name, status.st_mtime)] if stat.S_ISREG(status.st_mode) else []
    return sorted(found, key=lambda prompt: (prompt.at, prompt.name))


def _is_answered(folder: Path, name: str) -> bool:
    return os.path.lexists(folder / f"{name}{REPLY}")


def read_prompt(folder: Path, name: str) -> str:
    """Returns the text of a prompt that waits; raises `ModelError` where none of this name does."""
    _check_waiting(folder, name)
    try:
        return (folder / f"{name}{PROMPT}").read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise ModelError(f"prompt {name} cannot be read: {error.strerror}. Try: look into the mailbox") from error


def answer_prompt(folder: Path, name: str, text: str) -> None:
    """Writes the reply to a prompt that waits, whole at once; raises `ModelError` where none of this name does, or the reply is none that a mailbox takes."""
    _check_waiting(folder, name)
    data = text.encode("utf-8", "surrogatepass")
    if not text.strip():
        raise ModelError("the reply is empty, and an empty one is waited for. Try: write one, or refuse to answer")
    if len(data) > LONGEST_REPLY:
        raise ModelError(f"the reply has more than {LONGEST_REPLY:,} bytes. Try: answer in fewer words")
    try:
        with atomic_write(folder / f"{name}{REPLY}") as made:
            made.write_bytes(data)
    except FileExistsError:
        raise ModelError(f"prompt {name} was answered meanwhile. Try: answer another one") from None
    except OSError as error:
        raise ModelError(f"the reply cannot be written: {error.strerror}. Try: see who may write there") from error


def _check_waiting(folder: Path, name: str) -> None:
    # Only a name that is in the folder becomes part of a path, whoever asks.
    if not any(prompt.name == name for prompt in list_prompts(folder)):
        raise ModelError(
            f"no prompt {name[:40]!r} waits in this mailbox: it was answered, or never asked. Try: go to the list"
        )


def _to_reply(prompt: Prompt, answer: str | None, seconds: float) -> Reply:
    reply = to_reply(prompt, answer or "", seconds)
    return reply if answer is not None else replace(reply, finish="refused")
