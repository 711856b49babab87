"""Values of the engine: frozen, slotted dataclasses, and the exception tree. Imports nothing of ours, and no numpy.

Each module lists what it exports."""

from evolve.types.errors import *
from evolve.types.evaluation import *
from evolve.types.events import *
from evolve.types.program import *
from evolve.types.prompt import *
from evolve.types.task import *
from evolve.types.tracking import *
