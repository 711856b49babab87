"""What a settled record calls for: a program that is quarantined or promoted, and the noise floor when the seed was measured often enough.

Invariant: a ruling follows from records in the log and from the task alone, and is written in the transaction of the record that calls for it."""

from dataclasses import dataclass, replace

from evolve.campaign import Campaign
from evolve.campaign.state import BOUND, INTEGRITY, NOISE
from evolve.statistics import noise_floor
from evolve.task.remedy import remedy
from evolve.types import NOBODYS_FAULT, Outcome, Record, Ruled


@dataclass(frozen=True, slots=True)
class SeedFault:
    """What is wrong with the seed, without which there is no campaign, and what to do."""

    what: str
    remedy: str


class Ruling:
    """Of the engine; those of a person are `evolve.campaign.rulings`."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._state = campaign.state
        self._task = campaign.task

    def settled(self, record: Record) -> SeedFault | None:
        """Writes what follows from a record; gives what is wrong with the seed, where it is about the seed and says so."""
        fault = None
        if record.origin.case:
            self._by_cases(record)
        else:
            self._by_bound(record)
            fault = self._of_seed(record)
            self._noise(record)
        self._by_tag(record)
        return fault

    def _by_bound(self, record: Record) -> None:
        bound, fitness = self._task.bound, record.evaluation.fitness
        if bound is None or fitness is None or fitness <= self._task.fitness.inside(bound):
            return
        assert record.program is not None, "a program without files has no fitness"
        why = f"{self._task.fitness.name} {self._task.fitness.shown(fitness)!r} is beyond the proven bound {bound!r}"
        self._campaign.write(Ruled("quarantine", record.program, BOUND, why))

    def _by_tag(self, record: Record) -> None:
        """What the evaluator has tagged is quarantined, whatever its outcome: not the seed, without which there is no campaign, and which is
        the evaluator's own example of an honest program."""
        tag, program = record.evaluation.tag, record.program
        known = program is None or program == self._task.seed.id or program in self._state.quarantined
        if tag and not known and record.evaluation.outcome not in NOBODYS_FAULT:
            assert program is not None, "what has no program is known"
            self._campaign.write(Ruled("quarantine", program, INTEGRITY, tag))

    def _by_cases(self, record: Record) -> None:
        """A program is promoted when all held-out cases agree that it is no worse than the seed: one of its own may have been the last
        that was missing, or one of the seed's. One whose score is claimed never is: nobody knows what it found."""
        cases, best = self._state.cases, self._state.archive.best
        for program in dict.fromkeys(one for one in (record.program, best and best.program) if one):
            known = program in self._state.archive.promoted or program == self._task.seed.id
            if not known and program not in self._state.claimed and cases.agree(program):
                why = f"no worse than the seed on {', '.join(cases.held_out)}"
                self._campaign.write(Ruled("promote", program, "held-out cases", why))

    def _of_seed(self, record: Record) -> SeedFault | None:
        """The seed must pass its own evaluator, and its certificate where there is one."""
        origin, evaluation, name = record.origin, record.evaluation, self._task.name
        if origin.kind == "proposal":
            return None
        failed = evaluation.outcome is not Outcome.OK
        if failed and record.program == self._task.seed.id and evaluation.stage == "certify":
            what = f"the value of the seed of task {name!r} cannot be certified: {evaluation.outcome}"
            return SeedFault(what, "mend `certify`, for nothing can be the best without it")
        again = origin.why == NOISE and evaluation.outcome is not Outcome.INTERNAL
        if failed and (again or origin.kind == "seed"):
            count, wanted = len(self._state.noise_values), self._campaign.settings.confirm.seeds
            where = f" at measurement {count + 1} of {wanted}" if again else ""
            what = f"the seed of task {name!r} fails its own evaluator{where}: {evaluation.outcome}"
            return SeedFault(what, remedy(evaluation.outcome))
        if evaluation.tag and (again or origin.kind == "seed"):
            what = f"the evaluator of task {name!r} tags its own seed as {evaluation.tag!r}"
            return SeedFault(what, "mend the check that tags it, or the seed")
        return None

    def _noise(self, record: Record) -> None:
        """With the last measurement of the seed, the noise floor is known."""
        if record.origin.kind == "proposal" or self._task.deterministic or self._state.noise_floor is not None:
            return
        values = self._state.noise_values
        if len(values) == self._campaign.settings.confirm.seeds:
            machine = self._state.machine
            assert machine is not None, "a run tells its machine before it judges"
            self._campaign.write(replace(machine, noise_floor=noise_floor(values)))
