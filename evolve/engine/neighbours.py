"""What was proposed on each island, so that what is near to it is found: sketches where a distance is wanted, vectors where a model embeds.

Invariant: it holds what the log holds, and what passed since the run began; sketches and vectors are in the log in the same transaction as
the record whose program they are of."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from evolve import novelty
from evolve.campaign import Campaign
from evolve.novelty import SketchIndex, VectorIndex, sketch
from evolve.novelty.indexes import MINIMA
from evolve.types import Origin, Program, ProgramId, RecordId, StoreError

_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a program is found by: its sketch, and the vector that the campaign's model `embedder` gave it; empty where nobody wants them."""

    sketch: bytes = b""
    vector: bytes = b""


class Neighbours:
    """The sketches and vectors of one run of a campaign. The main thread makes it and keeps what settles; any thread looks and adds."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._task = campaign.task
        self._islands = campaign.state.archive.settings.islands
        self.embedder = campaign.settings.models.purposes.get("embed", "") if _asks_models(campaign) else ""
        wanted = _wanted_distance(campaign) if _asks_models(campaign) else 0.0
        self.sketches = SketchIndex(wanted) if wanted else None
        self.vectors = VectorIndex(campaign.settings.novelty.cosine) if self.embedder else None
        self._under_way: dict[str, Program] = {}
        self._kept: list[ProgramId] = []
        if self.sketches is not None:
            self._recall_sketches(self.sketches)
        if self.vectors is not None:
            self._recall_vectors(self.vectors)

    def sketch(self, program: Program) -> bytes:
        """The program's sketch; empty where nobody wants it."""
        return sketch(novelty.minhash(program)) if self.sketches is not None else b""

    def add(self, program: Program, island: int, found: Fingerprint) -> None:
        """From now on others may be near to this program."""
        if self.sketches is not None or self.vectors is not None:
            self._under_way[program.id] = program
        if self.sketches is not None and found.sketch:
            for number in self._places(program.id, island):
                self.sketches.add(program.id, number, found.sketch)
        if self.vectors is not None and found.vector:
            self.vectors.add(program.id, island, found.vector)

    def keep(self, program: Program, origin: Origin, signature: str, found: Fingerprint) -> None:
        """Stores a program that settles with its fingerprint; what no operator proposed (a seed, a person's program) is added here. Main
        thread, inside a transaction."""
        log = self._campaign.log
        if self.sketches is not None and not found.sketch and origin.kind != "measurement":
            found = Fingerprint(self.sketch(program), found.vector)
            self.add(program, origin.island, found)
        log.put_program(program, signature, found.sketch)
        if found.vector:
            log.put_vector(program.id, self.embedder, found.vector)
        self._kept.append(program.id)

    def durable(self) -> None:
        """What was kept can be read in the log now, on every thread."""
        for program in self._kept:
            self.drop(program)
        self._kept.clear()

    def drop(self, program: ProgramId) -> None:
        """It is not under way any more."""
        self._under_way.pop(program, None)

    def told(self, key: str) -> tuple[str, Program | None]:
        """A neighbour as a reason names it, and its text where that is at hand."""
        # In this order: what leaves the programs under way has its record in the log by then. The log comes first in what is said, for it
        # alone says the same in every run.
        under_way, record = self._under_way.get(key), self._campaign.log.first_record(ProgramId(key))
        if record:
            return f"record {record}", under_way or self._campaign.state.reader.program(ProgramId(key))
        if under_way is not None:
            return "a program that is being judged", under_way
        return "a program that was proposed before", None

    def _places(self, program: ProgramId, island: int) -> Sequence[int]:
        """Where a program is near to others: the seed on all islands, for all begin with it."""
        return range(self._islands) if program == self._task.seed.id else (island,)

    def _recall_sketches(self, index: SketchIndex) -> None:
        """Fills the index from the log, and adds to the log what it lacks, where the campaign was without novelty before."""
        lacking, log = self._campaign.state.columns.first_records(), self._campaign.log
        for program, minima in log.sketches():
            if len(minima) != MINIMA:
                raise StoreError(
                    f"{log.path} is damaged: the sketch of program {program} has {len(minima)} bytes. Do: restore it from a backup"
                )
            if record := lacking.pop(program, 0):
                self._recall(index, program, record, minima)
        missing = iter(lacking.items())
        while batch := list(islice(missing, _BATCH)):
            with log.transaction():
                for program, record in batch:
                    stored = log.program(program)
                    minima = self.sketch(stored)
                    log.put_program(stored, "", minima)
                    self._recall(index, program, record, minima)

    def _recall(self, index: SketchIndex, program: ProgramId, record: RecordId, minima: bytes) -> None:
        for number in self._places(program, self._campaign.state.columns.islands[record - 1]):
            index.add(program, number, minima)

    def _recall_vectors(self, index: VectorIndex) -> None:
        columns = self._campaign.state.columns
        firsts = columns.first_records()
        for program, vector in self._campaign.log.vectors(self.embedder):
            if record := firsts.get(program, 0):
                index.add(program, columns.islands[record - 1], vector)


def _asks_models(campaign: Campaign) -> bool:
    """Whether an operator of the campaign needs a model: no other's children are held against their neighbours."""
    operators = campaign.plugins.operators
    return any(operators[name].entry.needs_model for name in campaign.operator_names)


def _wanted_distance(campaign: Campaign) -> float:
    """The campaign's own, else the task's."""
    own = campaign.settings.novelty.distance
    return campaign.task.novelty_distance if own is None else own
