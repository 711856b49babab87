"""Returns an array, whose length is not that of bytes."""

import array


def compress(data):
    return [int.from_bytes(data, "little") % 1000]


def decompress(packed):
    return array.array("B", packed).tobytes()
