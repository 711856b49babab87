"""From a person's program to the step that judges it.

Invariant: the same rules hold for it as for what an operator proposes; its text is in the log in the same transaction as the step, so that
a step which is interrupted is finished by the next run."""

from collections.abc import MutableMapping, Sequence

from evolve import changes, novelty
from evolve.campaign import Campaign
from evolve.campaign.inbox import Add
from evolve.campaign.rulings import program_of
from evolve.campaign.state import State
from evolve.types import Asked, ConfigError, Import, PluginError, Program, ProgramId, RecordId


class Known(ConfigError):
    """The program, or one that reads the same, is in the campaign already: as `record`, 0 while it is judged."""

    def __init__(self, message: str, record: RecordId) -> None:
        super().__init__(message)
        self.record = record


def imported(campaign: Campaign, wish: Add, request: str, signatures: MutableMapping[str, ProgramId]) -> Asked:
    """Writes the step that judges a program, and stores the program; raises `ConfigError` and what a plugin's screen raises.
    `signatures` are those of all programs that are known or under way. Inside a transaction."""
    state, program = campaign.state, Program(wish.files)
    parents = (wish.parent,) if wish.parent else ()
    family = [state.reader.program(program_of(campaign, parent)) for parent in parents]
    signature = novelty.signature(program)
    _check_new(campaign, program, signature, signatures)
    reason = changes.refusal(campaign.task, program) or _screened(campaign, program, family)
    if reason:
        raise ConfigError(f"the program may not be judged: {reason}. Do: mend it, and add it again")
    campaign.log.put_program(program, signature)
    signatures[signature] = program.id
    island = state.reader.settled(wish.parent).record.origin.island if wish.parent else _least_filled(state)
    action = Import(program.id, island, parents, wish.thought, request)
    asked = Asked(state.last_step + 1, action, after=len(state.columns.programs))
    campaign.write(asked)
    return asked


def _screened(campaign: Campaign, program: Program, family: Sequence[Program]) -> str:
    """What a plugin has against a program; one that breaks is a reason, too, and harms nobody but the person who asks."""
    try:
        return campaign.plugins.screen(campaign.task, program, family) or ""
    except PluginError as error:
        return str(error)


def _check_new(
    campaign: Campaign, program: Program, signature: str, signatures: MutableMapping[str, ProgramId]
) -> None:
    known = signatures.get(signature)
    if known is None:
        return
    record = campaign.state.columns.first_records().get(known, 0)
    alike = "it is" if known == program.id else "but for spacing and comments it is"
    which = f"{campaign.name}/{record}" if record else "one that is being judged"
    raise Known(f"the program is known: {alike} {which}. Do: add another one", record)


def _least_filled(state: State) -> int:
    islands = range(state.archive.settings.islands)
    return min(islands, key=lambda number: (state.archive.stats(number).elites, number))
