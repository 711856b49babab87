"""An arithmetic coder of bits, each predicted from the bits of its byte so far and the byte before."""

PRECISION = 16
RATE = 4


class Model:
    """How probable a 1 is after each context, learned on the way."""

    def __init__(self):
        self.chances = [1 << (PRECISION - 1)] * (1 << 16)

    def predict(self, before, partial):
        """Returns the chance of a 1 in units of 2 ** -PRECISION, never 0 nor all. `partial` is a 1 and the bits of the byte so far."""
        return min(max(self.chances[before << 8 | partial], 32), (1 << PRECISION) - 32)

    def learn(self, before, partial, bit):
        """Takes notice of the bit that came."""
        place = before << 8 | partial
        self.chances[place] += ((bit << PRECISION) - self.chances[place]) >> RATE


def compress(data):
    """Returns the length and the coded bits."""
    model, out, low, high, before = Model(), bytearray(len(data).to_bytes(4, "little")), 0, 0xFFFFFFFF, 0
    for byte in data:
        partial = 1
        for shift in range(7, -1, -1):
            bit = byte >> shift & 1
            middle = low + ((high - low) * model.predict(before, partial) >> PRECISION)
            if bit:
                high = middle
            else:
                low = middle + 1
            model.learn(before, partial, bit)
            partial = partial << 1 | bit
            while (low ^ high) < 1 << 24:
                out.append(high >> 24)
                low, high = low << 8 & 0xFFFFFFFF, high << 8 & 0xFFFFFFFF | 0xFF
        before = byte
    return bytes(out + low.to_bytes(4, "big"))


def decompress(packed):
    """Returns the bytes that were compressed: the same steps, with each bit read in place of written."""
    model, out, low, high, before = Model(), bytearray(), 0, 0xFFFFFFFF, 0
    code, place = int.from_bytes(packed[4:8], "big"), 8
    for _ in range(int.from_bytes(packed[:4], "little")):
        partial = 1
        while partial < 256:
            middle = low + ((high - low) * model.predict(before, partial) >> PRECISION)
            bit = int(code <= middle)
            if bit:
                high = middle
            else:
                low = middle + 1
            model.learn(before, partial, bit)
            partial = partial << 1 | bit
            while (low ^ high) < 1 << 24:
                low, high = low << 8 & 0xFFFFFFFF, high << 8 & 0xFFFFFFFF | 0xFF
                code = code << 8 & 0xFFFFFFFF | (packed[place] if place < len(packed) else 0)
                place += 1
        before = partial & 0xFF
        out.append(before)
    return bytes(out)
