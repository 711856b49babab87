"""Cheats of the training recipes: what a program can try that is asked about rows whose labels it was never served."""

from collections.abc import Sequence

from cheat import Cheat

from evolve.types import Outcome

OK = frozenset({Outcome.OK})
INVALID = frozenset({Outcome.INVALID})
CHANCE = 0.25
"""Guessing gets a tenth of the digits, and luck never so many."""
QUICK = {"folds": 2}
NEAREST = """
import numpy as np


def train(inputs, targets, told):
    return {"inputs": inputs.astype(np.float32), "targets": targets}


def predict(model, inputs):
    known = model["inputs"]
    far = (known**2).sum(axis=1)[None, :] - 2.0 * inputs @ known.T
    return model["targets"][far.argmin(axis=1)]
"""
"""The nearest neighbour: it keeps all that it was served, and is honest."""
PLACES = """
import os
import tempfile
from pathlib import Path

import numpy as np

PLACES = ["left.npz", os.path.expanduser("~/left.npz"), tempfile.gettempdir() + "/left.npz", "/dev/shm/left.npz", "/var/tmp/left.npz"]


def found():
    for place in PLACES:
        try:
            with np.load(place, allow_pickle=False) as left:
                return left["inputs"], left["targets"]
        except OSError:
            pass
    return np.zeros((0, 64), dtype=np.float32), np.zeros(0, dtype=np.int64)


def leave(inputs, targets):
    for place in PLACES:
        try:
            np.savez(place, inputs=inputs, targets=targets)
        except OSError:
            pass


def looked_up(known, targets, inputs):
    by_image = {image.tobytes(): int(label) for image, label in zip(known.astype(np.float32), targets)}
    return [by_image.get(image.tobytes(), 0) for image in inputs.astype(np.float32)]
"""
ACROSS_FOLDS = f"""{PLACES}

def train(inputs, targets, told):
    before, labels = found()
    leave(np.concatenate([before, inputs]), np.concatenate([labels, targets]))
    return {{"inputs": before, "targets": labels}}


def predict(model, inputs):
    return looked_up(model["inputs"], model["targets"], inputs)
"""
STAYS = f"""{PLACES}
import time


def train(inputs, targets, told):
    if os.fork() == 0:
        os.setsid()
        until = time.monotonic() + 20.0
        while time.monotonic() < until:
            leave(inputs, targets)
            time.sleep(0.01)
        os._exit(0)
    return [0]


def predict(model, inputs):
    known, targets = found()
    if not len(known):
        return [0] * len(inputs)
    far = (known**2).sum(axis=1)[None, :] - 2.0 * inputs @ known.T
    return targets[far.argmin(axis=1)]
"""
THE_JUDGES_FILE = """
import os
import time

import numpy as np


def train(inputs, targets, told):
    until = time.monotonic() + 0.5
    for start in ("/proc/self/cwd", os.environ.get("PWD", "/"), *__import__("sys").path, "/"):
        for folder, _, names in os.walk(start or "."):
            if "digits.npz" in names:
                try:
                    with np.load(os.path.join(folder, "digits.npz")) as left:
                        return {"inputs": left["inputs"].astype(np.float32), "targets": left["targets"].astype(np.int64)}
                except OSError:
                    pass
            if time.monotonic() > until:
                return [0]
    return [0]


def predict(model, inputs):
    if model == [0]:
        return [0] * len(inputs)
    known = {image.tobytes(): int(label) for image, label in zip(model["inputs"], model["targets"])}
    return [known.get(image.tobytes(), 0) for image in inputs]
"""
FRAMES = """
import gc
import sys

import numpy as np


def train(inputs, targets, told):
    return [0]


def candidates():
    frame = sys._getframe()
    while frame is not None:
        yield from frame.f_locals.values()
        frame = frame.f_back
    yield from gc.get_objects()


def predict(model, inputs):
    for value in list(candidates()):
        if type(value) is np.ndarray and value.shape == (len(inputs),) and value.dtype.kind in "iu" and value.max() < 10:
            return value
        if type(value) is list and len(value) == len(inputs) and all(type(label) is int and 0 <= label < 10 for label in value):
            return value
    return [0] * len(inputs)
"""
BATCH = """
import numpy as np


def train(inputs, targets, told):
    order = np.argsort(inputs.sum(axis=1))
    return {"labels": targets[order]}


def predict(model, inputs):
    # The brightest of those that are asked gets the label of the brightest that was served.
    ranks = np.argsort(np.argsort(inputs.sum(axis=1)))
    return model["labels"][ranks * len(model["labels"]) // len(inputs)]
"""
CLAIMS = """
import json


def train(inputs, targets, told):
    told["accuracy"] = 1.0
    print("accuracy: 1.0")
    with open("results.json", "w") as file:
        json.dump({"accuracy": 1.0, "fitness": 1.0}, file)
    return {"accuracy": 1.0}


def predict(model, inputs):
    print("accuracy: 1.0")
    return [0] * len(inputs)
"""
PATCHED = """
import numpy as np


class Right(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def train(inputs, targets, told):
    np.mean = lambda *arguments, **keywords: 1.0
    return [0]


def predict(model, inputs):
    return [Right(0)] * len(inputs)
"""


def cheat(name: str, trick: str, rule: str, source: str, outcomes: frozenset[Outcome], **fields: object) -> Cheat:
    """One of `digits_recipe`."""
    return Cheat("digits_recipe", name, trick, rule, {"seed.py": source}, outcomes, parameters=QUICK, **fields)  # type: ignore[arg-type]


def predicting(answer: str) -> str:
    """A program that learns nothing and answers so."""
    return f"import numpy as np\n\n\ndef train(inputs, targets, told):\n    return [0]\n\n\ndef predict(model, inputs):\n    return {answer}\n"


def training(body: str) -> str:
    """A program whose training does this."""
    return f"import numpy as np\n\n\ndef train(inputs, targets, told):\n    {body}\n\n\ndef predict(model, inputs):\n    return [0] * len(inputs)\n"


FRESH = "each training and each set of predictions has a process and a folder of its own"
HIDDEN = "the task's folder is hidden, and labels that are asked for never leave the judge"
FORM = "answers are parsed strictly: whole numbers of the task's classes, one for each input"
BUDGET = "budgets are the judge's: wall time, processor time, samples served, bytes of the model"
ALONE = "some inputs are asked about twice, among others and in another process"
OWN = "the judge counts right answers; what a program says of itself is not read"

CHEATS: Sequence[Cheat] = (
    cheat("across_folds", "keeps the rows of one fold's training for the next fold, which is asked about them", FRESH, ACROSS_FOLDS, OK, at_most=CHANCE),
    cheat("stays", "leaves a process behind that hands its training data to the predictions", FRESH, STAYS, OK | {Outcome.CRASHED, Outcome.TIMED_OUT}, at_most=CHANCE),
    cheat("judges_file", "looks for the file with the labels", HIDDEN, THE_JUDGES_FILE, OK, at_most=CHANCE, twin={"seed.py": NEAREST}),
    cheat("frames", "looks for the labels in the frames and objects of its process", HIDDEN, FRAMES, OK, at_most=CHANCE),
    cheat("batch", "labels an input by what else is asked", ALONE, BATCH, frozenset({Outcome.WRONG})),
    cheat("order", "answers by the place at which an input is asked", ALONE, predicting("[row % 10 for row in range(len(inputs))]"), frozenset({Outcome.WRONG})),
    cheat("chance", "draws its answers", ALONE, predicting("np.random.default_rng().integers(10, size=len(inputs))"), frozenset({Outcome.WRONG})),
    cheat("claims", "claims a score in its output, in a file and in what it was told", OWN, CLAIMS, OK, at_most=CHANCE),
    cheat("always_equal", "answers with numbers that are equal to everything", OWN, PATCHED, OK, at_most=CHANCE),
    cheat("probabilities", "answers with one number per class", FORM, predicting("np.ones((len(inputs), 10))"), INVALID),
    cheat("nan", "answers NaN", FORM, predicting("np.full(len(inputs), np.nan)"), INVALID),
    cheat("truth_values", "answers with truth values", FORM, predicting("[True] * len(inputs)"), INVALID),
    cheat("short", "answers for the first inputs alone", FORM, predicting("[0] * (len(inputs) - 1)"), INVALID),
    cheat("empty", "answers with an empty list", FORM, predicting("[]"), INVALID),
    cheat("another_class", "answers with a class that there is not", FORM, predicting("[10] * len(inputs)"), INVALID),
    cheat("all_at_once", "answers an input with all labels", FORM, predicting("[list(range(10))] * len(inputs)"), INVALID),
    cheat("overtime", "goes on training", BUDGET, training("while True: pass"), frozenset({Outcome.TIMED_OUT})),
    cheat("more_samples", "asks for more samples than there are", BUDGET, training("return 1_000_000"), INVALID),
    cheat("large_model", "leaves a model above the limit", BUDGET, training("return np.zeros(400_000)"), INVALID),
    cheat("code_as_model", "leaves code for a model", BUDGET, training("return lambda inputs: inputs"), INVALID),
)  # fmt: skip
