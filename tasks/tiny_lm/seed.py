"""Predicts each bit of a text from the last bytes before it: contexts of several lengths, mixed by weights that learn (Mahoney 2005,
http://mattmahoney.net/dc/dce.html)."""

import math

from coder import ONE, Decoder, Encoder

PRIMED = 4000
START = 0.4
RATE = 0.02
LIMIT = 60.0
FIRST = 0.5


def fit(text, limit):
    """The model is a piece of the training text: the mixer reads it before it codes."""
    return {"primer": text[:PRIMED].tolist()}


def encode(model, text):
    coder, mixer = Encoder(), primed(model)
    for byte in bytes(text):
        mixer.next(coder.bit, byte)
    return coder.code()


def decode(model, code, count):
    coder, mixer = Decoder(code), primed(model)
    return [mixer.next(coder.bit, 0) for _ in range(count)]


def primed(model):
    mixer = Mixer()
    for byte in bytes(model["primer"]):
        mixer.next(known, byte)
    return mixer


def known(probability, bit):
    return bit


class Mixer:
    def __init__(self):
        self.masks = (0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF)
        self.tables = [{} for _ in self.masks]
        self.weights = [START for _ in self.masks]
        self.history = 0

    def next(self, coded, byte):
        """One byte, which a decoder does not know: `coded` gives each bit."""
        node, weights = 1, self.weights
        keys = [(self.history & mask) << 8 for mask in self.masks]
        for place in (7, 6, 5, 4, 3, 2, 1, 0):
            states = [
                table.get(key | node) or table.setdefault(key | node, [0.5, FIRST])
                for table, key in zip(self.tables, keys, strict=True)
            ]
            stretched = [math.log(state[0] / (1.0 - state[0])) for state in states]
            mixed = sum([weight * one for weight, one in zip(weights, stretched, strict=True)])
            chance = 1.0 / (1.0 + math.exp(-max(-11.0, min(11.0, mixed))))
            bit = coded(max(1, min(ONE - 1, int(chance * ONE))), byte >> place & 1)
            step = RATE * (bit - chance)
            for number, one in enumerate(stretched):
                weights[number] += step * one
            for state in states:
                state[1] += 1.0 if state[1] < LIMIT else 0.0
                state[0] += (bit - state[0]) / (state[1] + 0.1)
            node = node << 1 | bit
        self.history = (self.history << 8 | node & 255) & 0xFFFFFFFF
        return node & 255
