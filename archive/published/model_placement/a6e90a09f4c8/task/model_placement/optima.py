"""The smallest pressure of each of the first 50 instances of the published generator, by its seed: proven by `exact.best`.

Invariant: these are facts, which a test computes again."""

from collections.abc import Mapping
from fractions import Fraction

_PROVEN = {
    42: """
        43/1008 17/455 13/371 99/2800 7/195 13/368 17/450 49/1280 5/171 3/82
        9/184 61/1480 1/20 19/450 73/1925 23/819 41/924 1/21 29/810 17/420
        13/342 69/1600 8/343 23/666 43/1104 38/735 23/714 41/675 9/224 3/80
        25/594 17/441 5/196 19/360 11/336 19/408 11/360 79/2072 50/1197 35/1152
        35/816 107/1890 5/129 19/455 13/240 87/2360 7/180 11/296 1/30 77/1935
    """,
    7: """
        16/371 9/287 5/96 1/25 62/1575 9/245 13/280 1/21 17/370 3/64
        25/756 81/1640 9/220 83/1980 61/1554 61/1932 1/21 11/280 5/92 11/270
        34/805 59/1230 17/336 17/405 9/235 68/1435 69/1400 289/7560 17/472 1/21
        23/672 2/45 9/238 16/287 7/200 4/105 9/256 35/864 7/160 19/460
        9/205 79/1638 10/243 17/396 7/180 37/816 31/816 17/369 3/76 29/903
    """,
}
OPTIMA: Mapping[int, tuple[Fraction, ...]] = {
    seed: tuple(Fraction(word) for word in words.split()) for seed, words in _PROVEN.items()
}
