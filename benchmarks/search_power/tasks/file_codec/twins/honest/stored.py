"""Stores the file as it is."""


def compress(data):
    return data


def decompress(packed):
    return packed
