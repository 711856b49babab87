"""What an operator with a model has besides: the templates of its prompts, and what plugins say in them.

Invariant: it follows from the task, the campaign's settings and the selection; a campaign's template comes before a task's."""

from dataclasses import replace

from evolve import hardware
from evolve.config import PromptsSection
from evolve.plugins import Plugins
from evolve.protocols import Context
from evolve.types import Selection


def with_prompts(context: Context, selection: Selection, settings: PromptsSection, plugins: Plugins) -> Context:
    """The context of a selection with all that its prompts are made of. Proposal thread: it calls plugins."""
    found = plugins.prompt_sections(context.task, selection)
    return replace(
        context,
        templates={**context.task.prompts, **settings.templates},
        sections=tuple(section for section in found if settings.hardware or section.name != hardware.NAME),
        prompt_tokens=settings.tokens,
    )
