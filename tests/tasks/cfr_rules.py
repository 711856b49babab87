"""Known variants of counterfactual regret minimisation as programs, and a session in this process; the tests of `cfr_variant` share them.

Each is written from its paper: CFR+ (Tammelin, https://arxiv.org/abs/1407.5042), linear and discounted CFR (Brown and Sandholm,
https://arxiv.org/abs/1809.04040), predictive CFR+ (Farina, Kroer and Sandholm, https://arxiv.org/abs/2007.14358), and discounted predictive CFR+ (Xu and others,
https://arxiv.org/abs/2404.13891). The average leaves the first policy out, which is the same for all, so that weights are
one behind."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parents[2] / "tasks" / "cfr_variant"
CFR = (FOLDER / "seed.py").read_text()


def _program(update: str, policy: str, weight: str) -> str:
    return f"""
import numpy as np

def fading(t, power):
    return t**power / (t**power + 1)

def regret_update(R, r, t, state):
    return {update}

def policy(R, r_pred, t, state):
    return np.maximum({policy}, 0)

def average_weight(t, own_reach, state):
    return {weight}
"""


PLAIN = _program("R + r", "R", "float(t > 1)")
CFR_PLUS = _program("np.maximum(R + r, 0)", "R", "t - 1.0")
LINEAR = _program("R * t / (t + 1) + r", "R", "t - 1.0")
DISCOUNTED = _program("R * np.where(R > 0, fading(t, 1.5), 0.5) + r", "R", "(t - 1.0) ** 2")
PREDICTIVE_PLUS = _program("np.maximum(R + r, 0)", "R + r_pred", "(t - 1.0) ** 2")
DISCOUNTED_PREDICTIVE_PLUS = _program(
    "np.maximum(R * fading(t - 1, 2.3) + r, 0)", "R * fading(t - 1, 2.3) + r_pred", "(t - 1.0) ** 5"
)
VARIANTS = {
    "CFR": PLAIN,
    "CFR+": CFR_PLUS,
    "LCFR": LINEAR,
    "DCFR": DISCOUNTED,
    "PCFR+": PREDICTIVE_PLUS,
    "DPCFR+": DISCOUNTED_PREDICTIVE_PLUS,
}


class Here:
    """A session in this process, for a program's source."""

    def __init__(self, source: str) -> None:
        program, self._binding = ModuleType("seed"), ModuleType("binding")
        exec(source, program.__dict__)
        hidden = sys.modules.get("seed")
        sys.modules["seed"] = program
        try:
            exec((FOLDER / "binding.py").read_text(), self._binding.__dict__)
        finally:
            del sys.modules["seed"]
            if hidden is not None:
                sys.modules["seed"] = hidden

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
        """As a candidate's session, but for time and copies."""
        return getattr(self._binding, function)(*arguments)
