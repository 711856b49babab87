"""Answers when it is too late."""

import time


def place(gpus, models):
    time.sleep(0.2)
    return [0] * len(models)
