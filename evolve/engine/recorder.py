"""The recorder: turns drafts and reports into records, and writes the rulings that follow from them.

A program and every text of an evaluation are in the log in the same transaction as the record that names them, and so is each ruling with the record that calls for it."""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evolve import novelty
from evolve.campaign import Campaign
from evolve.campaign.descriptors import Descriptors
from evolve.campaign.state import BOUND, INTEGRITY, NOISE
from evolve.engine.metering import Answered
from evolve.engine.outage import Outage, may_retry
from evolve.engine.previews import PreviewEnded
from evolve.engine.proposals import Draft, Fingerprint, Rejection, Screening, Work, proposal_origin
from evolve.evaluation import Report, decode_report
from evolve.sandbox.output import format_place, quoted, readable
from evolve.statistics import noise_floor
from evolve.types import (
    NOBODYS_FAULT,
    Asked,
    Call,
    Child,
    Description,
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
    RefusalCode,
    Ruled,
    SandboxError,
    Settled,
    TaskError,
    TextId,
    seed_remedy,
    text_id,
)
from evolve.types.errors import without_remedy


@dataclass(frozen=True, slots=True)
class SeedError:
    """Error of the seed, without which there is no campaign, and its remedy."""

    what: str
    remedy: str


class EngineRulings:
    """Rulings that follow from records; those of persons are in `evolve.engine.steering`."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._state = campaign.state
        self._task = campaign.task

    def follow(self, record: Record) -> SeedError | None:
        """Writes the rulings that follow from a record; returns the error of the seed, where the record shows one."""
        fault = None
        if record.origin.case:
            self._promote(record)
        else:
            self._quarantine_beyond_bound(record)
            fault = self._check_seed(record)
            self._record_noise_floor(record)
        self._quarantine_tagged(record)
        return fault

    def _quarantine_beyond_bound(self, record: Record) -> None:
        bound, fitness = self._task.bound, record.evaluation.fitness
        if bound is None or fitness is None or fitness <= self._task.fitness.inside(bound):
            return
        assert record.program is not None, "a program without files has no fitness"
        why = f"{self._task.fitness.name} {self._task.fitness.shown(fitness)!r} is beyond the proven bound {bound!r}"
        self._campaign.write(Ruled("quarantine", record.program, BOUND, why))

    def _quarantine_tagged(self, record: Record) -> None:
        # Whatever its outcome; but not the seed, which is the evaluator's own example of an honest program.
        tag, program = record.evaluation.tag, record.program
        known = program is None or program == self._task.seed.id or program in self._state.quarantined
        if tag and not known and record.evaluation.outcome not in NOBODYS_FAULT:
            assert program is not None, "what has no program is known"
            self._campaign.write(Ruled("quarantine", program, INTEGRITY, tag))

    def _promote(self, record: Record) -> None:
        """Promotes a program when all held-out cases agree that it is no worse than the seed: one of its own may have been the last
        that was missing, or one of the seed's. A claimed score is never promoted: nobody knows what the program found."""
        cases, best = self._state.cases, self._state.archive.best
        for program in dict.fromkeys(one for one in (record.program, best and best.program) if one):
            known = program in self._state.archive.promoted or program == self._task.seed.id
            if not known and program not in self._state.claimed and cases.agree(program):
                why = f"no worse than the seed on {', '.join(cases.held_out)}"
                self._campaign.write(Ruled("promote", program, "held-out cases", why))

    def _check_seed(self, record: Record) -> SeedError | None:
        """Returns the error of a seed that fails its own evaluator, or its certificate."""
        origin, evaluation, name = record.origin, record.evaluation, self._task.name
        if origin.kind == "proposal":
            return None
        failed = evaluation.outcome is not Outcome.OK
        if failed and record.program == self._task.seed.id and evaluation.stage == "certify":
            what = f"the value of the seed of task {name!r} cannot be certified: {evaluation.outcome}"
            return SeedError(what, "mend `certify`, for nothing can be the best without it")
        again = origin.why == NOISE and evaluation.outcome is not Outcome.INTERNAL
        if failed and (again or origin.kind == "seed"):
            count, wanted = len(self._state.noise_values), self._campaign.settings.confirm.seeds
            where = f" at measurement {count + 1} of {wanted}" if again else ""
            what = f"the seed of task {name!r} fails its own evaluator{where}: {evaluation.outcome}"
            return SeedError(what, seed_remedy(evaluation.outcome))
        if evaluation.tag and (again or origin.kind == "seed"):
            what = f"the evaluator of task {name!r} tags its own seed as {evaluation.tag!r}"
            return SeedError(what, "mend the check that tags it, or the seed")
        return None

    def _record_noise_floor(self, record: Record) -> None:
        """Writes the noise floor with the last measurement of the seed."""
        if record.origin.kind == "proposal" or self._task.deterministic or self._state.noise_floor is not None:
            return
        values = self._state.noise_values
        if len(values) == self._campaign.settings.confirm.seeds:
            machine = self._state.machine
            assert machine is not None, "a run tells its machine before it evaluates"
            self._campaign.write(replace(machine, noise_floor=noise_floor(values)))


_COMPILER_ERROR = re.compile(r"^.+\b(?:fatal )?error: .+$", re.MULTILINE)
_CASE = re.compile(r"^Case ('.*?'|\".*?\"): ")
_log = logging.getLogger(__name__)
PLUGIN_FAILURES = 5
"""Failures of plugins in a row that end a run."""


class Recorder:
    """Writes records. Main thread, inside a transaction; it also knows which programs are under way."""

    def __init__(self, campaign: Campaign, outage: Outage) -> None:
        self._campaign = campaign
        self._outage = outage
        self._state = campaign.state
        self._task = campaign.task
        self._descriptors = Descriptors(campaign.state.archive.grid.axes, campaign.task.seed)
        self.signatures = read_signatures(campaign)
        """Signatures of all programs that are in the log or under way."""
        self.screening = Screening(campaign, self.signatures)
        self._rulings = EngineRulings(campaign)
        self._plugin_failures = 0
        self._is_outage_told = False
        self.failure: EvolveError | None = None
        """Error that makes going on useless; raised when the turn that found it is durable."""
        self.evaluated = self.faults = 0
        """Evaluations of proposals in this run, and those among them that failed by no fault of the program."""
        self.calls = Counter[str]()
        """Calls of models in this run that were `answered`, and that `failed`."""
        self.call_error = ""
        """Error of the last call that failed."""
        self._unusable = Counter[str]()
        self._is_model_usable = False

    def record_call(self, answered: Answered) -> None:
        """Writes a call of a model."""
        call = answered.event.call
        self.calls["failed" if call.error else "answered"] += 1
        self.call_error = call.error or self.call_error
        self._campaign.log.put_texts(answered.texts)
        self._campaign.write(answered.event)

    def record_preview(self, ended: PreviewEnded) -> None:
        """Writes what an operator had evaluated while it proposed."""
        self._campaign.log.put_texts(ended.texts)
        self._campaign.write(ended.event)

    @property
    def unusable(self) -> Mapping[str, int]:
        """Reasons for which proposals of models were not evaluated in this run, the most frequent first; empty where one was evaluated."""
        return {} if self._is_model_usable else dict(self._unusable.most_common())

    def record_machine(self, description: Description) -> None:
        """Writes the run's machine and isolation."""
        machine = self._state.machine
        floor = machine.noise_floor if machine is not None and machine.hardware == description.hardware else None
        self._campaign.write(MachineMeasured(description.hardware, floor, description.isolation))

    def record_drafts(self, asked: Asked, drafts: Sequence[Draft]) -> Iterator[Settled | Draft]:
        """Yields the record of each draft of a step that is refused, and the others, which are to be evaluated; none that has settled before."""
        step = self._state.steps[asked.step]
        for found in [draft for draft in drafts if draft.index not in step.settled]:
            draft = _check_call(found, step.replies)
            refusal = draft.refusal or self._find_duplicate(draft)
            if refusal:
                yield self._refuse(proposal_origin(self._campaign.plugins, asked, draft), draft, refusal)
                continue
            assert draft.child.program is not None, "a draft without a program is refused"
            # Known from now on, so that a sibling that reads the same is refused while this one is evaluated.
            self.signatures[draft.signature] = draft.child.program.id
            yield draft

    def _find_duplicate(self, draft: Draft) -> Rejection | None:
        # It, or one that reads the same, may have been proposed since the draft was screened.
        if draft.child.program is None:
            return None
        return self.screening.find_duplicate(draft.child.program, draft.signature)

    def _refuse(self, origin: Origin, draft: Draft, refusal: Rejection) -> Settled:
        self._plugin_failures = self._plugin_failures + 1 if refusal.code == RefusalCode.PLUGIN_FAILED else 0
        if self._plugin_failures == PLUGIN_FAILURES:
            self.failure = PluginError(f"{PLUGIN_FAILURES} proposals in a row failed, the last because {refusal.why}")
        if origin.model and origin.kind != "note":
            self._unusable[without_remedy(refusal.why)] += 1
        program = draft.child.program
        if program is not None and self.signatures.get(draft.signature) != program.id:
            self.screening.neighbours.drop(program.id)
        evaluation = Evaluation.failed(Outcome.SCREENED, self._campaign.log.put_text(refusal.why), stage="screen")
        return self._append(origin, None, evaluation, draft.child, refusal)

    def record_report(self, work: Work, result: bytes) -> Iterator[Settled | Work]:
        """Yields the record of an evaluation; or the work again, where the machinery failed it."""
        report = decode_report(result)
        evaluation = report.evaluation
        internal = evaluation.outcome is Outcome.INTERNAL
        if internal and report.retry and may_retry(work.origin, work.tries):
            yield replace(work, tries=work.tries + 1)
            return
        self._outage.record(work.origin, evaluation.outcome)
        if work.origin.kind == "proposal":
            self.evaluated += 1
            self.faults += internal
        if self._outage.is_suspected and not self._is_outage_told:
            self._is_outage_told = True
            what = "evaluations fail, and no program is to blame: nothing but the seed is evaluated until it passes. The last one: %s"
            _log.warning(what, _feedback_line(report))
        yield from self._settle(work, report)
        if internal and self._outage.verdict and self.failure is None:
            what = f"{self._outage.verdict}; the last failure"
            remedy = "mend the evaluator, or what it needs of the machine, and go on with --continue"
            self.failure = _error_with_feedback(SandboxError, what, report, remedy)

    def release_durable(self) -> None:
        """Lets go of programs that can be read in the log now."""
        self.screening.neighbours.durable()

    def _settle(self, work: Work, report: Report) -> Iterator[Settled]:
        self._plugin_failures = 0
        self._is_model_usable |= bool(work.origin.model)
        signature = work.draft.signature if work.draft else novelty.signature(work.program)
        if report.evaluation.limit:
            # It ran out of a shorter time than its stage's: another operator may propose it again, with all of that time.
            self.signatures.pop(signature, None)
        else:
            self.signatures[signature] = work.program.id
        found = work.draft.fingerprint if work.draft else Fingerprint()
        self.screening.neighbours.keep(work.program, work.origin, signature, found)
        report = self._complete_descriptors(work, report)
        self._campaign.log.put_texts(report.texts)
        evaluation = replace(report.evaluation, carried=work.carried)
        event = self._append(work.origin, work.program.id, evaluation, work.draft.child if work.draft else Child(None))
        fault = self._rulings.follow(event.record)
        if fault is not None:
            self.failure = _error_with_feedback(TaskError, fault.what, report, fault.remedy)
        yield event

    def _complete_descriptors(self, work: Work, report: Report) -> Report:
        """Completes a report with a number for each axis of the archive; a program that has none for one of them is INVALID."""
        evaluation = self._descriptors.complete(report.evaluation, lambda: work.program)
        missing = self._descriptors.missing(evaluation)
        evaluated = work.job.kind == "evaluate" and evaluation.outcome is Outcome.OK
        if not (missing and evaluated):
            return replace(report, evaluation=evaluation)
        why = f"neither a descriptor nor a metric for the axis {missing!r}"
        invalid = replace(
            evaluation, outcome=Outcome.INVALID, fitness=None, objectives={}, violation=0.0, feedback=text_id(why)
        )
        return replace(report, evaluation=invalid, texts={**report.texts, text_id(why): why})

    def _append(
        self,
        origin: Origin,
        program: ProgramId | None,
        evaluation: Evaluation,
        child: Child,
        refusal: Rejection | None = None,
    ) -> Settled:
        number = len(self._state.columns.programs) + 1
        record = Record(number, origin, program, evaluation, child.thought, child.extras)
        if refusal is not None:
            record = replace(record, refusal=str(refusal.code), resembles=refusal.resembles)
        event = self._state.settle(record)
        self._campaign.append(event)
        self._state.reader.keep(event)
        for lesson in child.lessons:
            self._campaign.write(LessonWritten(Lesson(lesson, origin.operator, number)))
        return event


def _check_call(draft: Draft, replies: Mapping[int, Call]) -> Draft:
    """Returns the draft; refused where it names a call that its step has no answer of, so that no record has the words of another."""
    call = draft.child.call
    if call < 0 or (call in replies and not replies[call].error):
        return draft
    why = f"its operator names call {call}, of which its step has no answer. Try: mend it, to take `Reply.call`"
    return replace(draft, child=replace(draft.child, call=-1), refusal=Rejection(RefusalCode.PLUGIN_FAILED, why))


def read_signatures(campaign: Campaign) -> dict[str, ProgramId]:
    """Returns the programs of the log by their signatures, by which near-duplicates are recognised."""
    hurried = campaign.state.hurried
    return {signature: program for program, signature in campaign.log.signatures() if program not in hurried}


def _find_cause(feedback: str) -> str:
    """Returns the first error of a compiler; else the last line of the first paragraph, the root error of a traceback, with its place; and the
    case, where it is that of one."""
    if compiler := _COMPILER_ERROR.search(feedback):
        return compiler[0]
    case = _CASE.match(feedback)
    paragraph = _CASE.sub("", feedback).split("\n\n", 1)[0]
    where = f", on case {case[1]}" if case else ""
    return (paragraph.splitlines() or [""])[-1].rstrip(".") + format_place(feedback) + where


def _feedback_of(report: Report) -> str:
    return report.texts.get(TextId(report.evaluation.feedback), "").strip() or "there is no feedback"


def _feedback_line(report: Report) -> str:
    """Returns one line of a report's feedback, made fit to be read."""
    return readable(_find_cause(_feedback_of(report))).strip()


def _error_with_feedback(kind: type[EvolveError], what: str, report: Report, remedy: str) -> EvolveError:
    """Returns an error with one line of a report's feedback; all of it, quoted, is the error's note."""
    feedback, line = _feedback_of(report), _feedback_line(report)
    if "Try:" not in line:
        line = f"{line.rstrip('.')}. Try: {remedy}; --debug shows all that is known"
    error = kind(f"{what}: {line}")
    error.add_note(quoted(feedback))
    return error
