"""The report of a campaign as a document: discover, then explain.

Invariant: it says nothing that the findings, the task and the settings do not hold."""

from evolve.campaign import Campaign
from evolve.pages.asked import asked
from evolve.pages.authors import notes
from evolve.pages.checking import checking
from evolve.pages.cost import cost
from evolve.pages.course import course, glance
from evolve.pages.document import Document, Mono
from evolve.pages.doubts import uncertain
from evolve.pages.environment import environment
from evolve.pages.failed import failed
from evolve.pages.findings import Findings, Picture
from evolve.pages.found import found_section
from evolve.pages.headline import headline


def report_of(campaign: Campaign, found: Findings, picture: Picture) -> Document:
    """What was asked, what was found, how it came about, what did not work, what it cost, where it ran, how to verify it, and what is uncertain."""
    task, moment = campaign.task, found.moment
    return Document(
        title=f"Campaign {campaign.name}",
        about=("A report on the task ", Mono(task.name), f", made {moment.told} by evolve {moment.version}."),
        summary=(*headline(found, task), *glance(found, task)),
        sections=(
            asked(campaign),
            found_section(campaign, found, picture, notes(found.blame)),
            course(campaign, found),
            failed(found),
            cost(found, task.fitness),
            environment(campaign, found),
            checking(found),
            uncertain(campaign, found),
        ),
    )
