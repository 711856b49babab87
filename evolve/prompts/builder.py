"""Builder of prompts from a selection: templates, sections, and pieces that are left out so that the prompt fits.

No prompt has more characters than four for each token of its budget, the parent stands in it whole, and two prompts of one
campaign begin with the same text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from evolve.prompts import sections, task_sections
from evolve.prompts.prompt_context import REFLECTS, Subject
from evolve.prompts.quoting import excerpt, fence_text, path_name
from evolve.prompts.task_sections import has_blocks
from evolve.prompts.templates import FORMS, PromptTemplate, find_template, split_layout
from evolve.prompts.trimming import SectionDraft, choose_forms, join_items
from evolve.protocols import Context
from evolve.types import EditError, Message, Prompt, Section, Selection

PER_TOKEN = 4
"""Characters that are taken for one token."""
WORDS: Mapping[str, str] = MappingProxyType({"most": "5"})
"""Words of a layout that an operator may replace."""
_STABLE = {"task": task_sections.draft_task, "rules": task_sections.draft_rules, "context": task_sections.draft_context}
_REASON = 6000
"""Characters of a reason that a repair shows."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A section, as a draft with its template, or a text without one."""

    role: str
    name: str
    draft: SectionDraft
    template: PromptTemplate | None = None
    whole: str = field(init=False)
    """Its text where nothing is left out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", self.text([0] * len(self.draft.pieces)))

    def text(self, forms: Sequence[int]) -> str:
        """Returns the text that is shown; empty where nothing is left."""
        listed = join_items(self.draft, forms)
        if not listed and not self.draft.always:
            return ""
        return listed if self.template is None else self.template.fill({"items": listed, **self.draft.words}).rstrip()


def build(
    kind: str,
    selection: Selection,
    context: Context,
    *,
    tokens: int,
    values: Mapping[str, str] = MappingProxyType({}),
) -> Prompt:
    """Returns the prompt of a kind for a selection, of at most `tokens`, a token being four characters. `values` fill the layout's own places.
    Raises `EditError` where the parent does not fit, or where a kind that changes a program has none, and `ConfigError` for a
    template that cannot be filled."""
    subject = Subject(kind == REFLECTS, selection, context, tokens)
    _check_parents(kind, subject)
    parts = [
        *_draft_parts("system", "system", subject, {}),
        *_draft_parts("user", kind, subject, {**_fill_words(kind, subject), **values}),
    ]
    texts = [part.whole for part in parts]
    # Pieces are left out only now: the digits of the scores must be those of all that could be shown.
    excess = _count_characters(texts) - PER_TOKEN * tokens
    if excess > 0:
        forms = choose_forms([part.draft for part in parts], excess)
        texts = [part.text(form) for part, form in zip(parts, forms, strict=True)]
    needed = -(-_count_characters(texts) // PER_TOKEN)
    if needed > tokens:
        raise EditError(_explain_too_long(subject, needed))
    sections = [(part.role, Section(part.name, text)) for part, text in zip(parts, texts, strict=True) if text]
    return Prompt(
        (
            Message("system", tuple(section for role, section in sections if role == "system")),
            Message("user", tuple(section for role, section in sections if role == "user")),
        )
    )


def repair(prompt: Prompt, reply: str, reason: str, templates: Mapping[str, str] = MappingProxyType({})) -> Prompt:
    """Returns one more turn: the reply, and why it could not be used, which the engine says; lines of the program may be quoted in that."""
    why = {"reason": fence_text(excerpt(reason, _REASON))}
    return prompt.continue_with(reply, [Section("repair", find_template("repair", templates).fill(why))])


def _draft_parts(role: str, name: str, subject: Subject, words: Mapping[str, str]) -> Iterator[_Part]:
    """Yields the sections of a layout, in its order."""
    for part in split_layout(find_template(name, subject.context.templates)):
        if isinstance(part, PromptTemplate):
            yield _Part(role, name, SectionDraft(words=words, always=True), part)
        elif part == "sections":
            yield from (_Part(role, *section) for section in task_sections.draft_plugin_sections(subject))
        elif part in _STABLE:
            yield _draft_stable(role, part, subject)
        elif part in FORMS:
            template = find_template(part, subject.context.templates)
            yield _Part(role, part, SectionDraft(words=words, always=True), template)
        else:
            yield _Part(role, part, sections.SECTIONS[part](subject), find_template(part, subject.context.templates))


def _draft_stable(role: str, name: str, subject: Subject) -> _Part:
    """Returns a section that follows from the task, the first record and a template alone."""
    template = find_template(name, subject.context.templates)
    return subject.context.derived.get_or_create(
        ("stable", role, name, template, len(subject.history) > 0),
        lambda: _Part(role, name, _STABLE[name](subject), template),
    )


def _check_parents(kind: str, subject: Subject) -> None:
    if kind != REFLECTS and not subject.known.program_key(subject.parent):
        raise EditError(
            f"a prompt {kind!r} is about a program, and the selection has none. Try: select a parent with a program"
        )
    if kind == "crossover" and not subject.partners:
        raise EditError(
            "a crossover is of two programs, and the selection has one. Try: select parents with two programs"
        )


def _fill_words(kind: str, subject: Subject) -> dict[str, str]:
    others = [f"program {record}" for record in subject.partners]
    seed = subject.task.seed
    marked = any(has_blocks(seed, path) for path in seed.files)
    return {
        **WORDS,
        "number": str(subject.parent),
        "others_names": " and ".join(others),
        "inside": ", from the lines that may change," if marked else "",
        "path": path_name(next((path for path in seed.files if has_blocks(seed, path)), next(iter(seed.files)))),
        "advice": _number_sample(subject) if kind == "sample" else _advise(subject),
    }


def _number_sample(subject: Subject) -> str:
    """Returns a number that tells equal requests apart: a mailbox, a recording and a server's cache answer an equal one with the answer before."""
    return f"This request is made many times, each without memory of the others; it is number {len(subject.history) + subject.context.rivals}."


def _advise(subject: Subject) -> str:
    """Returns advice for steps on one program that are under way at once, for equal prompts would bring equal answers."""
    match subject.context.rivals:
        case 0:
            return ""
        case 1:
            return "Another request about this program is being answered right now, and will bring the change that is thought of first: choose another one."
        case rivals:
            return f"{rivals} other requests about this program are being answered right now, and will bring the changes that are thought of first: choose another one."


def _count_characters(texts: Sequence[str]) -> int:
    """Characters of both messages, with the empty lines between sections."""
    shown = [len(text) for text in texts if text]
    return sum(shown) + 2 * len(shown)


def _explain_too_long(subject: Subject, needed: int) -> str:
    what = f"program {subject.parent}" if subject.parent else "what must be said"
    return (
        f"{what} does not fit into a prompt: with the task and what must be said it takes about {needed:,} tokens, and a prompt may have "
        f"{subject.tokens:,}. Try: --set prompts.tokens={needed + needed // 4}, with a model whose context is as long"
    )
