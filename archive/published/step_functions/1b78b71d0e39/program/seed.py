"""Step functions with an extreme autoconvolution: bumps are added at random places, and kept where the score grows.

The maximum of an autoconvolution is reached at many places at once, and hardly any bump lowers all of them. So the search goes by a softer
maximum, which every high place adds to; what it returns is the best by the true one."""

import time

import numpy as np

# EVOLVE-BLOCK-START
# A shape that climbs to a high place: a tall hump, a gap, a plateau, and a comb of ever narrower spikes. Mean and spread, lengths in 256ths.
SHAPE = {
    "edge": (1.8, 0.3), "hump": (14.6, 0.5), "tall": (0.79, 0.06), "gap": (71.0, 0.9), "plateau": (75.4, 0.6), "skew": (0.73, 0.07),
    "floor": (0.58, 0.04), "before": (4.5, 0.4), "pitch": (7.97, 0.04), "spikes": (10.0, 0.15), "wide": (1.77, 0.03), "narrow": (1.1, 0.04),
    "mass": (1.88, 0.12), "peak": (0.27, 0.02), "rise": (-0.82, 0.06), "fall": (-1.11, 0.08), "noise": (-3.0, 0.2),
}
SPREAD = 1.0, 1.5  # how far shapes are from the mean one, in units of the spread above
ROWS, FIRST, ROUNDS, HOPS = 8, 0.35, 2, 5  # climbs at first, their share of the time, rounds of hops, climbs in each
GOOD = 0.915  # where what was carried is as good as this, hops from it replace half of the shapes


def construct(kind, n, limit, seed, start):
    """The best function of this run: climbs by gradient from many shapes at once, then from changed copies of the best."""
    clock = time.process_time()
    rng = np.random.default_rng(seed)
    begin = fitted(kind, flat(n) if start is None else np.array(start, float))
    if kind != "c2":
        return bumps(kind, n, limit, rng, begin, clock)
    limit *= 0.97
    pool = [(score(kind, begin, np.max), begin)]
    rows = [shape(rng, n) for _ in range(ROWS)]
    if pool[0][0] > GOOD:
        rows[: ROWS // 2] = [hop(rng, begin, begin[::-1] if rng.random() < 0.1 else begin) for _ in range(ROWS // 2)]
    climb(pool, rows, limit * FIRST, (0.03, 3e-4), (100, 3000))
    for left in range(ROUNDS, 0, -1):
        parents = [pool[int(len(pool[:6]) * rng.random() ** 2)][1] for _ in range(HOPS - 1)]
        rows = [pool[0][1]] + [hop(rng, steps, pool[rng.integers(min(len(pool), 8))][1]) for steps in parents]
        climb(pool, rows, (limit - (time.process_time() - clock)) / left, (0.016, 2e-4), (60, 5000))
    return pool[0][1].tolist()


def shape(rng, n):
    """A random shape, by the means and spreads above."""
    far = rng.uniform(*SPREAD)
    z = {name: mean + far * spread * rng.normal() for name, (mean, spread) in SHAPE.items()}
    unit = n / 256
    steps = 1e-3 * rng.random(n)
    at = max(z["edge"], 0) * unit

    def hill(at, length, floor, skew, height):
        first, count = int(at), max(int(length * unit), 1)
        part = steps[first : first + count]
        part += height * (floor + np.sin(np.pi * ((np.arange(len(part)) + 0.5) / count) ** skew))

    hill(at, z["hump"], 0.3, 1, np.exp(z["tall"]))
    at += (z["hump"] + z["gap"]) * unit
    hill(at, z["plateau"], max(z["floor"], 0), max(z["skew"], 0.2), 1)
    at += (z["plateau"] + z["before"]) * unit
    count = max(round(z["spikes"]), 2)
    for j in range(count):
        x = j / (count - 1)
        mass = np.exp(z["mass"] + (z["rise"] * (1 - x / z["peak"]) if x < z["peak"] else z["fall"] * (x - z["peak"]) / (1 - z["peak"])))
        width = max(int((z["wide"] + (z["narrow"] - z["wide"]) * x) * unit + 0.5), 1)
        first = int(at + j * z["pitch"] * unit - width / 2 + 0.5)
        steps[max(first, 0) : max(first + width, 0)] += mass / width * unit
    steps *= np.exp(np.exp(z["noise"]) * rng.normal(size=n))
    return steps / steps.max()


def hop(rng, steps, other):
    """A changed copy: a part scaled or raised, a part moved by one, noise, or a part of another one."""
    n, how, much = len(steps), rng.integers(8), 0.03 * 25 ** rng.random()
    steps = steps.copy()
    first = rng.integers(n)
    part = steps[first : first + 1 + int(0.2 * n * rng.random())]
    if how < 2:
        part *= 1 - much
    elif how < 4:
        steps[first : first + 4 + int(0.12 * n * rng.random())] *= np.exp(0.4 * rng.normal())
    elif how == 4:
        part += much * rng.random(len(part))
    elif how == 5:
        steps[first:] = np.roll(steps[first:], 1 if rng.random() < 0.5 else -1)
    elif how == 6:
        steps = np.maximum(steps + 0.2 * much * rng.normal(size=n), 0)
    else:
        steps[first:] = other[first:]
        steps *= np.exp(0.3 * much * rng.normal(size=n))
    return steps


def climb(pool, rows, seconds, rates, sharpness):
    """Adds to the pool the best that gradient ascent (Adam) finds from each of the rows, all at once; the maximum is soft, and ever sharper."""
    begin, turn = time.process_time(), 0
    f = np.array(rows, np.float32)
    f /= f.max(1, keepdims=True)
    n, size = f.shape[1], 2 * f.shape[1]
    best, best_score = f.copy(), np.zeros(len(f), np.float32)
    mean, square = np.zeros_like(f), np.zeros_like(f)
    while True:
        if turn % 4 == 0:
            done = (time.process_time() - begin) / seconds
            if done >= 1:
                break
            rate, sharp = (np.float32(a * (b / a) ** done) for a, b in (rates, sharpness))
        turn += 1
        spectrum = np.fft.rfft(f, size)
        y = np.fft.irfft(spectrum * spectrum, size)
        top, total = y.max(1), f.sum(1)
        g = 4 * y
        g[:, 1:] += y[:, :-1]
        g[:, :-1] += y[:, 1:]
        power = np.einsum("ij,ij->i", g, y)
        found = power / (6 * total * total * top)
        better = found > best_score
        if better.any():
            np.copyto(best, f, where=better[:, None])
            np.copyto(best_score, found, where=better)
        y *= (sharp / top)[:, None]
        y -= sharp
        np.exp(y, out=y)
        y *= (1 / (y.sum(1) * top))[:, None]
        g *= (2 / power)[:, None]
        g -= y
        slope = np.fft.irfft(np.fft.rfft(g, size) * spectrum.conj(), size)[:, :n] - (1 / total)[:, None]
        mean += np.float32(0.1) * (slope - mean)
        square += np.float32(0.01) * (slope * slope - square)
        step = np.sqrt(square)
        step *= np.float32((1 - 0.9**turn) / (1 - 0.99**turn) ** 0.5)
        step += np.float32(1e-12)
        f += rate * mean / step
        np.maximum(f, 0, out=f)
        if turn % 16 == 0:
            high = f.max(1, keepdims=True)
            f /= high
            mean *= high
            square *= high * high
    for row in best.astype(float):
        row = fitted("c2", row)
        pool.append((score("c2", row, np.max), row))
    pool.sort(key=lambda pair: -pair[0])


def bumps(kind, n, limit, rng, steps, clock):
    """For the other kinds: bumps at random places, kept where the score does not fall."""
    best = score(kind, steps, np.max)
    while time.process_time() - clock < limit:
        bump = 0.003 ** rng.random() * rng.normal() * np.exp(-np.square((np.arange(n) - n * rng.random()) / (0.05 * n) ** rng.random()))
        changed = fitted(kind, steps + bump)
        found = score(kind, changed, np.max)
        if found >= best:
            steps, best = changed, found
    return steps.tolist()


# EVOLVE-BLOCK-END


def flat(n):
    """A constant, which every kind allows."""
    return np.full(n, 0.5)


def fitted(kind, steps):
    """The steps as the kind wants them: not negative, and 1 the highest; erdos between 0 and 1, and half their number in all."""
    if kind == "erdos":
        steps = np.clip(steps, 0, 1)
        movable = (steps >= 0.1) & (steps <= 0.9)
        excess = steps.sum() - len(steps) / 2
        return np.where(movable, steps * (1 - excess / max(steps[movable].sum(), 1)), steps)
    steps = steps if kind == "c3abs" else np.maximum(steps, 0)
    return steps / (np.abs(steps).max() or 1)


def score(kind, steps, peak):
    """What the judge computes, where `peak` is the maximum: the ratio of c2, and the negative ratio of the other kinds."""
    if kind == "erdos":
        outside = steps.max() > 1 or steps.min() < 0
        return -np.inf if outside else -2 * peak(np.convolve(steps, 1 - steps[::-1])) / len(steps)
    knots, total = np.convolve(steps, steps), steps.sum() ** 2
    if total == 0:
        return -np.inf
    if kind == "c2":
        return (2 * (knots @ knots) + knots[1:] @ knots[:-1]) / (3 * total * peak(knots))
    return -2 * len(steps) * peak(np.abs(knots)) / total
