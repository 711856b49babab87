"""From drafts and reports to records: duplicates, cached evaluations, jobs for the judge, and what the log is told of each.

Invariant: a program and every text of an evaluation are in the log in the same transaction as the record that names them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from evolve import novelty
from evolve.campaign import Campaign
from evolve.campaign.cases import CANARY
from evolve.campaign.descriptors import Descriptors
from evolve.campaign.state import BOUND, INTEGRITY, NOISE, REFLECTION
from evolve.judge import Description, Report, decode_report
from evolve.loop.infrastructure import HOPELESS, Infrastructure
from evolve.loop.jobs import Jobs, Work, proposal_origin
from evolve.loop.neighbours import Fingerprint
from evolve.loop.proposing import Draft
from evolve.loop.screening import Screening
from evolve.sandbox.output import quoted, readable
from evolve.statistics import noise_floor
from evolve.store import EvaluationCache
from evolve.types import (
    NOBODYS_FAULT,
    REPEATABLE,
    Asked,
    Child,
    Evaluation,
    EvolveError,
    Lesson,
    LessonWritten,
    MachineMeasured,
    Origin,
    Outcome,
    PluginError,
    ProgramId,
    Record,
    Ruled,
    SandboxError,
    Settled,
    TaskError,
    TextId,
    text_id,
)

IN_A_ROW = 5
"""Failures of plugins in a row that stop a campaign."""
NOTHING_NEW = 500
"""Screened proposals in a row after which a campaign is exhausted."""
_MUCH_SLOWER = 20
"""No child is taken for so many times as slow as the seed."""
WORTH_CACHING = 0.1
"""Seconds; a shorter evaluation is repeated for less than a look-up and a write cost."""


def _always() -> bool:
    return True


class Settling:
    """Writes records. Main thread, inside a transaction; it also knows which programs are under way."""

    def __init__(self, campaign: Campaign, jobs: Jobs, infrastructure: Infrastructure) -> None:
        self._campaign = campaign
        self._infrastructure = infrastructure
        self._jobs = jobs
        self._state = campaign.state
        self._task = campaign.task
        self._descriptors = Descriptors(campaign.state.archive.axes, campaign.task.seed)
        self.signatures = known_signatures(campaign)
        """Of all programs that are in the log or under way."""
        self.screening = Screening(campaign, self.signatures)
        self._cache = _cache(campaign)
        self._worth_caching: list[tuple[str, bytes]] = []
        self._plugin_failures = 0
        self._screened = 0
        self.refusal = ""
        self.failure: EvolveError | None = None
        """What makes going on useless; raised when the turn that found it is durable."""

    def close(self) -> None:
        """Ends using the cache."""
        if self._cache is not None:
            self._cache.close()

    @property
    def exhausted(self) -> bool:
        """So many proposals in a row were nothing new that there is no point in going on."""
        return self._screened >= NOTHING_NEW

    def arrive(self, judges: Description) -> None:
        """The run's machine and isolation."""
        machine = self._state.machine
        floor = machine.noise_floor if machine is not None and machine.hardware == judges.hardware else None
        self._campaign.write(MachineMeasured(judges.hardware, floor, judges.isolation))

    def drafted(
        self, asked: Asked, drafts: Sequence[Draft], has_room: Callable[[], bool] = _always
    ) -> Iterator[Settled | Work]:
        """For each draft of a step that has not settled before: a record at once, or the work to judge it. It ends where there is no room for one
        more to be judged."""
        done = self._state.steps[asked.step].settled
        for draft in [draft for draft in drafts if draft.index not in done]:
            origin = proposal_origin(asked, draft)
            reason = draft.refusal or self._known(draft)
            if reason:
                yield self._screen(origin, draft, reason)
                continue
            if not has_room():
                return
            assert draft.child.program is not None, "a draft without a program is refused"
            self.signatures[draft.signature] = draft.child.program.id
            work = self._jobs.proposal(asked, draft)
            hit = self._cached(work)
            if hit is None:
                yield self._informed(work)
            else:
                yield from self._settle(work, hit)

    def _known(self, draft: Draft) -> str:
        """Why a program is nothing new: it, or one that reads the same, was proposed meanwhile."""
        if draft.child.program is None:
            return ""
        return self.screening.known(draft.child.program, draft.signature)

    def _screen(self, origin: Origin, draft: Draft, reason: str) -> Settled:
        self._plugin_failures = self._plugin_failures + 1 if draft.plugin_failed else 0
        if self._plugin_failures == IN_A_ROW:
            self.failure = PluginError(f"{IN_A_ROW} proposals in a row failed, the last because {reason}")
        if origin.operator != REFLECTION:
            self._screened += 1
            self.refusal = reason
        program = draft.child.program
        if program is not None and self.signatures.get(draft.signature) != program.id:
            self.screening.neighbours.drop(program.id)
        evaluation = Evaluation.failed(Outcome.SCREENED, self._campaign.log.put_text(reason), stage="screen")
        return self._append(origin, None, evaluation, draft.child)

    def judged(self, work: Work, result: bytes) -> Iterator[Settled | Work]:
        """The record of a judging, and the ruling that a value beyond the proven bound calls for; or the work again, where the
        machinery failed it."""
        report = decode_report(result)
        evaluation = report.evaluation
        if evaluation.outcome is Outcome.INTERNAL and self._infrastructure.again(work):
            known = evaluation.passed if self._task.deterministic else {}
            yield replace(work, tries=work.tries + 1, job=replace(work.job, passed={**work.job.passed, **known}))
            return
        self._infrastructure.settled(work, evaluation.outcome)
        yield from self._settle(work, report)
        if evaluation.outcome is Outcome.INTERNAL and self._infrastructure.hopeless and self.failure is None:
            self.failure = _noted(
                SandboxError, _hopeless(work), report, "mend the evaluator, or what it needs of the machine"
            )
        worth = evaluation.seconds >= WORTH_CACHING and self._is_worth_it()
        if self._cache and work.key and evaluation.outcome in REPEATABLE and worth:
            name = f"{self._campaign.name}/{len(self._state.columns.programs)}"
            self._worth_caching.append((work.key, name.encode() + b"\n" + result))
        elif self._cache and worth:
            # The whole is no answer for another time, and what the stages before its end have found is.
            self._worth_caching += [
                (work.stage_keys[stage], repr(fitness).encode())
                for stage, fitness in evaluation.passed.items()
                if stage in work.stage_keys
            ]

    def remember(self) -> None:
        """Fills the cache, when the records that it names are durable, and lets go of what they hold."""
        self.screening.neighbours.durable()
        for key, value in self._worth_caching:
            assert self._cache is not None, "nothing is worth caching where there is no cache"
            self._cache.put(key, value)
        self._worth_caching.clear()

    def _is_worth_it(self) -> bool:
        """Where the seed is judged in no time, so is what is made of it, and nothing is kept or looked for."""
        seconds = self._state.seed_seconds
        return seconds is None or seconds * _MUCH_SLOWER >= WORTH_CACHING

    def _cached(self, work: Work) -> Report | None:
        """What an earlier judging has found, where that went as far as this one would go."""
        found = self._cache.get(work.key) if self._cache and self._is_worth_it() else None
        if found is None:
            return None
        name, _, result = found.partition(b"\n")
        report = decode_report(result)
        passed = report.evaluation.passed
        if any(passed.get(stage, least) < least for stage, least in work.job.wanted.items()):
            return None
        return replace(
            report, evaluation=replace(report.evaluation, seconds=0.0, cpu_seconds=0.0, cached_from=name.decode())
        )

    def _informed(self, work: Work) -> Work:
        """The work with what is known of its early stages."""
        if not (self._cache and work.stage_keys and self._is_worth_it()):
            return work
        found = {stage: self._cache.get(key) for stage, key in work.stage_keys.items()}
        passed = {stage: float(fitness) for stage, fitness in found.items() if fitness is not None}
        return replace(work, job=replace(work.job, passed=passed))

    def _settle(self, work: Work, report: Report) -> Iterator[Settled]:
        self._screened = self._plugin_failures = 0
        signature = work.draft.signature if work.draft else novelty.signature(work.program)
        self.signatures[signature] = work.program.id
        found = work.draft.found if work.draft else Fingerprint()
        self.screening.neighbours.keep(work.program, work.origin, signature, found)
        report = self._described(work, report)
        self._put(report.texts)
        evaluation = replace(report.evaluation, carried=work.carried)
        event = self._append(work.origin, work.program.id, evaluation, work.draft.child if work.draft else Child(None))
        if work.origin.case:
            self._rule_by_cases(event.record)
        else:
            self._rule_by_bound(event)
            self._check_seed(event.record, report)
        self._rule_by_tag(event.record)
        yield event

    def _described(self, work: Work, report: Report) -> Report:
        """With a number for each axis of the archive; a program that has none for one of them is INVALID."""
        from_text = work.draft.descriptors if work.draft else None
        evaluation = self._descriptors.completed(report.evaluation, lambda: work.program, from_text)
        missing = self._descriptors.missing(evaluation)
        judged = work.job.kind == "evaluate" and evaluation.outcome is Outcome.OK
        if not (missing and judged):
            return replace(report, evaluation=evaluation)
        why = f"neither a descriptor nor a metric for the axis {missing!r}"
        invalid = replace(
            evaluation, outcome=Outcome.INVALID, fitness=None, objectives={}, violation=0.0, feedback=text_id(why)
        )
        return replace(report, evaluation=invalid, texts={**report.texts, text_id(why): why})

    def _put(self, texts: Mapping[TextId, str]) -> None:
        if texts:
            self._campaign.log.put_texts(texts)

    def _append(self, origin: Origin, program: ProgramId | None, evaluation: Evaluation, child: Child) -> Settled:
        number = len(self._state.columns.programs) + 1
        event = self._state.settle(Record(number, origin, program, evaluation, child.thought, child.extras))
        self._campaign.record(event)
        self._state.reader.keep(event)
        for lesson in child.lessons:
            self._campaign.write(LessonWritten(Lesson(lesson, origin.operator, number)))
        return event

    def _rule_by_bound(self, event: Settled) -> None:
        bound, fitness = self._task.bound, event.record.evaluation.fitness
        if bound is None or fitness is None or fitness <= self._task.fitness.inside(bound):
            return
        assert event.record.program is not None, "a program without files has no fitness"
        why = f"{self._task.fitness.name} {self._task.fitness.shown(fitness)!r} is beyond the proven bound {bound!r}"
        self._campaign.write(Ruled("quarantine", event.record.program, BOUND, why))

    def _rule_by_tag(self, record: Record) -> None:
        """What the evaluator has tagged is quarantined, whatever its outcome: not the seed, without which there is no campaign, and which is
        the evaluator's own example of an honest program."""
        tag, program = record.evaluation.tag, record.program
        known = program is None or program == self._task.seed.id or program in self._state.quarantined
        if tag and not known and record.evaluation.outcome not in NOBODYS_FAULT:
            assert program is not None, "what has no program is known"
            self._campaign.write(Ruled("quarantine", program, INTEGRITY, tag))

    def _rule_by_cases(self, record: Record) -> None:
        """A program is promoted when all held-out cases agree that it is no worse than the seed: one of its own may have been the last
        that was missing, or one of the seed's. One whose score is claimed never is: nobody knows what it found."""
        cases, best = self._state.cases, self._state.archive.best
        for program in dict.fromkeys(one for one in (record.program, best and best.program) if one):
            known = program in self._state.archive.promoted or program == self._task.seed.id
            if not known and program not in self._state.claimed and cases.agree(program):
                why = f"no worse than the seed on {', '.join(cases.held_out)}"
                self._campaign.write(Ruled("promote", program, "held-out cases", why))

    def _check_seed(self, record: Record, report: Report) -> None:
        """The seed must pass its own evaluator, and its certificate where there is one; with its last measurement the noise floor is
        known."""
        if record.origin.kind == "proposal":
            return
        values = self._state.noise_values
        wanted = self._campaign.settings.confirm.seeds
        again = record.origin.why == NOISE and record.evaluation.outcome is not Outcome.INTERNAL
        if (record.origin.kind == "seed" or again) and record.evaluation.outcome is not Outcome.OK:
            where = f" at measurement {len(values) + 1} of {wanted}" if again else ""
            what = f"the seed of task {self._task.name!r} fails its own evaluator{where}: {record.evaluation.outcome}"
            self.failure = _noted(TaskError, what, report, "mend the seed or the evaluator")
        elif (record.origin.kind == "seed" or again) and record.evaluation.tag:
            what = f"the evaluator of task {self._task.name!r} tags its own seed as {record.evaluation.tag!r}"
            self.failure = _noted(TaskError, what, report, "mend the check that tags it, or the seed")
        proof = record.program == self._task.seed.id and record.evaluation.stage == "certify"
        if proof and record.evaluation.outcome is not Outcome.OK:
            what = f"the value of the seed of task {self._task.name!r} cannot be certified: {record.evaluation.outcome}"
            self.failure = _noted(TaskError, what, report, "mend `certify`, for nothing can be the best without it")
        if not self._task.deterministic and len(values) == wanted and self._state.noise_floor is None:
            machine = self._state.machine
            assert machine is not None, "a run tells its machine before it judges"
            self._campaign.write(replace(machine, noise_floor=noise_floor(values)))


def _hopeless(work: Work) -> str:
    """Who is at fault, as far as the canary can tell."""
    if work.origin.case == CANARY:
        return "the judges fail on the seed too, and did so for as long as outage.wait_seconds allows; the last failure"
    return f"the judges fail on everything but the seed, which passed {HOPELESS} times meanwhile; the last failure"


def known_signatures(campaign: Campaign) -> dict[str, ProgramId]:
    """What near-duplicates are recognised by, of all programs in the log."""
    return {signature: program for program, signature in campaign.log.signatures()}


def _noted(kind: type[EvolveError], what: str, report: Report, remedy: str) -> EvolveError:
    """An error that says one line of a report's feedback, the root error of a traceback; all of it, quoted, is the error's note."""
    feedback = report.texts.get(TextId(report.evaluation.feedback), "").strip() or "there is no feedback"
    line = readable(feedback.split("\n\n", 1)[0].splitlines()[-1]).strip()
    if "Do:" not in line:
        line = f"{line.rstrip('.')}. Do: {remedy}; --debug shows all that is known"
    error = kind(f"{what}: {line}")
    error.add_note(quoted(feedback))
    return error


def _cache(campaign: Campaign) -> EvaluationCache | None:
    """The cache beside the campaigns; off for noisy tasks and where two runs must be equal."""
    settings = campaign.settings
    if not settings.cache or settings.deterministic or not campaign.task.deterministic:
        return None
    return EvaluationCache(campaign.log.path.parent.parent / "cache.db")
