"""The compressor of the standard library."""

import lzma

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9}]


def compress(data):
    return lzma.compress(data, lzma.FORMAT_RAW, filters=FILTERS)


def decompress(packed):
    return lzma.decompress(packed, lzma.FORMAT_RAW, filters=FILTERS)
