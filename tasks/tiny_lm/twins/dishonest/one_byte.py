"""Tells the text as it is, but for one byte, which it guesses."""

import numpy as np


def fit(text, limit):
    return [0]


def encode(model, text):
    return text[1:]


def decode(model, code, count):
    return np.concatenate([np.array([255], dtype=np.uint8), code])
