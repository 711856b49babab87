"""Predicts each bit from the byte before it, by counts; the model has seen the training text."""

from coder import ONE, Decoder, Encoder

PRIMED = 3000


def fit(text, limit):
    return text[:PRIMED]


def encode(model, text):
    coder, counts = Encoder(), primed(model)
    for byte in bytes(text):
        counts.next(coder.bit, byte)
    return coder.code()


def decode(model, code, count):
    coder, counts = Decoder(code), primed(model)
    return [counts.next(coder.bit, 0) for _ in range(count)]


def primed(model):
    counts = Counts()
    for byte in bytes(model):
        counts.next(lambda probability, bit: bit, byte)
    return counts


class Counts:
    """How often a bit was 0, and how often 1, after a byte and the bits before it."""

    def __init__(self):
        self.seen = {}
        self.last = 0

    def next(self, coded, byte):
        node = 1
        for place in (7, 6, 5, 4, 3, 2, 1, 0):
            seen = self.seen.setdefault((self.last, node), [0.4, 0.4])
            bit = coded(max(1, min(ONE - 1, int(ONE * seen[1] / (seen[0] + seen[1])))), byte >> place & 1)
            seen[bit] += 1
            node = node << 1 | bit
        self.last = node & 255
        return self.last
