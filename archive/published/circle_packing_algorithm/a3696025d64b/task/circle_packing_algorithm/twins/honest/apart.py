"""Each circle goes where the nearest other one, or the border, is farthest; of places that are drawn."""

import numpy as np

DRAWN = 400


def pack(n, limit, seed):
    rng = np.random.default_rng(seed)
    found = [rng.random(2)]
    while len(found) < n:
        places = rng.random((DRAWN, 2))
        room = np.minimum(places, 1.0 - places).min(axis=1)
        for centre in found:
            room = np.minimum(room, np.hypot(*(places - centre).T) / 2.0)
        found.append(places[room.argmax()])
    return np.array(found).tolist()
