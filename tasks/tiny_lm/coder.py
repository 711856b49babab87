"""An arithmetic coder for single bits (Witten, Neal, Cleary 1987, https://doi.org/10.1145/214762.214771; carries cannot occur in 32 bits).

A bit that was given the probability p costs -log2(p) bits of code. Invariant: what `Encoder` wrote with some probabilities, `Decoder` reads with the same ones."""

import numpy as np

ONE = 1 << 16
"""Probabilities are whole numbers of 65536ths, from 1 to 65535."""
_ALL = 0xFFFFFFFF


class Encoder:
    """Takes bits, each with the probability of a 1 that was predicted for it."""

    def __init__(self):
        self._low, self._high = 0, _ALL
        self._bytes = bytearray()

    def bit(self, probability, bit):
        """Writes a bit, and gives it back."""
        middle = self._low + ((self._high - self._low) * probability >> 16)
        if bit:
            self._high = middle
        else:
            self._low = middle + 1
        while not (self._low ^ self._high) & 0xFF000000:
            self._bytes.append(self._high >> 24)
            self._low = self._low << 8 & _ALL
            self._high = self._high << 8 & _ALL | 255
        return bit

    def code(self):
        """All that was written, as an array of bytes."""
        # Behind its end the decoder reads zeros, so that this one byte lies within the last interval.
        return np.frombuffer(bytes(self._bytes) + bytes([self._high >> 24]), dtype=np.uint8)


class Decoder:
    """Gives the bits of a code back, for the same probabilities."""

    def __init__(self, code):
        self._low, self._high = 0, _ALL
        self._bytes = iter(bytes(code))
        self._value = 0
        for _ in range(4):
            self._value = self._value << 8 | next(self._bytes, 0)

    def bit(self, probability, bit=None):
        """Reads a bit."""
        middle = self._low + ((self._high - self._low) * probability >> 16)
        bit = int(self._value <= middle)
        if bit:
            self._high = middle
        else:
            self._low = middle + 1
        while not (self._low ^ self._high) & 0xFF000000:
            self._low = self._low << 8 & _ALL
            self._high = self._high << 8 & _ALL | 255
            self._value = self._value << 8 & _ALL | next(self._bytes, 0)
        return bit
