"""Gives another answer each time it is asked: a rule that draws."""

import random


def score(item, residual):
    return [random.random() for _ in residual]
