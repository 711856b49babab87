"""Shadow caches about a hit density that is continuous in the usual gap; a rule leads where it beats that by more than noise."""

import math
from collections import deque

STEPS = 4
SHRINK = 3.0
DECAY = 0.975


class Shadow:
    """The keys that one rule would hold, its discounted lead over the density, and how often only one of them hit."""

    def __init__(self, rule):
        self.rule = rule
        self.keys = set()
        self.lead = 0.0
        self.odds = 0.0


class Policy:
    """Decides what a cache of `capacity` keys drops."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.now = 0
        self.slow = {}
        self.fast = {}
        self.slow_rate = math.log(2) / (25.0 * capacity)
        self.fast_rate = math.log(2) / (3.0 * capacity)
        self.mean = [math.log(2.0 * capacity)] * 16
        self.held = set()
        # key: [last, class, usual log gap, uses, gap, error, source, next class, its part, kind]
        self.info = {}
        self.limit = 24 * capacity + 64
        factor = 2 ** (1.0 / STEPS)
        ages = []
        starts = [0]
        b = 0
        upper = 2
        for age in range(self.limit + 2):
            if age >= upper:
                starts.append(age)
                b += 1
                upper = max(age + 1, int(math.ceil(age * factor)))
            ages.append(b)
        self.bucket = ages
        self.count = b + 1
        starts.append(self.limit + 2)
        self.width = [float(starts[i + 1] - starts[i]) for i in range(self.count)]
        self.events = {}
        self.gone = {}
        self.tables = {}
        self.kinds = {}
        self.prior = None
        self.default = [-math.log(1.0 + i) for i in range(self.count)]
        self.next_fit = capacity + capacity // 2
        rules = [
            self._density,
            self._blend,
            self._kind,
            self._lru,
            self._quick,
            self._steady,
            self._next,
        ]
        self.shadows = [Shadow(rule) for rule in rules]
        self.leader = self.shadows[0]
        self.keep = 1.0 - 1.0 / (8.0 * capacity)

    # Each rule gives a value; the key with the least is dropped.

    def _density(self, key):
        entry = self.info[key]
        age = self.now - entry[0]
        if age > self.limit:
            age = self.limit
        b = self.bucket[age]
        tables = self.tables
        table = tables.get(entry[1])
        if table is None:
            table = self._late(entry[1])
        value = table[b]
        part = entry[8]
        if part:
            table = tables.get(entry[7])
            if table is None:
                table = self._late(entry[7])
            value += part * (table[b] - value)
        return value - 1e-7 * age

    def _blend(self, key):
        return self._density(key) + 0.5 * self.slow[key]

    def _kind(self, key):
        entry = self.info[key]
        age = self.now - entry[0]
        if age > self.limit:
            age = self.limit
        table = self.kinds.get(entry[9], self.default)
        return table[self.bucket[age]] + 0.2 * self.fast[key]

    def _lru(self, key):
        return self.info[key][0]

    def _quick(self, key):
        return self.fast[key]

    def _steady(self, key):
        return self.slow[key]

    def _next(self, key):
        entry = self.info[key]
        gap = entry[4]
        age = self.now - entry[0]
        if gap is None:
            gap = math.exp(self.mean[entry[6]]) * 2.0
            slack = 0.5 * gap
        else:
            slack = 2.0 + 2.0 * entry[5]
        if age > gap + slack:
            return -(gap + 4.0 * (age - gap) + self.capacity)
        return -max(0.0, gap - age)

    def _learn(self, key, source):
        """The gap that just ended, told to the survival of its classes."""
        now = self.now
        entry = self.info.get(key)
        if entry is None:
            first = (source, 0, 0)
            self.info[key] = [now, first, None, 0, None, 0.0, source, first, 0.0, (source, 0)]
        else:
            whole = now - entry[0]
            age = min(whole, self.limit)
            b = self.bucket[age]
            part = entry[8]
            for c, share in ((entry[1], 1.0 - part), (entry[7], part)):
                if share > 0.0:
                    row = self.events.get(c)
                    if row is None:
                        row = self.events[c] = [0.0] * self.count
                    row[b] += share
            by = entry[6]
            self.mean[by] += 0.05 * (math.log(whole) - self.mean[by])
            old = entry[4]
            if old is None:
                entry[4] = float(whole)
                entry[5] = 0.2 * whole
            else:
                entry[5] = 0.6 * entry[5] + 0.4 * abs(whole - old)
                entry[4] = old + 0.4 * (whole - old)
            log = math.log2(age)
            n = entry[3] + 1
            usual = log if entry[2] is None else entry[2] + (log - entry[2]) / min(n, 7)
            uses = n if n < 3 else 3 if n < 5 else 4 if n < 9 else 5 if n < 17 else 6
            place = max(0.0, usual * 1.5)
            low = int(place)
            entry[0] = now
            entry[1] = (source, 1 + low, uses)
            entry[2] = usual
            entry[3] = n
            entry[6] = source
            entry[7] = (source, 2 + low, uses)
            entry[8] = place - low
            entry[9] = (source, uses)
        if now >= self.next_fit:
            self._fit()
            self.next_fit = now + max(50, len(self.info) // 12)

    def _fit(self):
        count = self.count
        now = self.now
        bucket = self.bucket
        limit = self.limit
        for c in self.events:
            self.events[c] = [DECAY * n for n in self.events[c]]
        for c in self.gone:
            self.gone[c] *= DECAY
        waiting = {}
        old = []
        kept = set(self.held)
        for shadow in self.shadows:
            kept |= shadow.keys
        for key, entry in self.info.items():
            age = now - entry[0]
            part = entry[8]
            parts = ((entry[1], 1.0 - part), (entry[7], part)) if part else ((entry[1], 1.0),)
            if age > limit:
                if key not in kept:
                    old.append(key)
                    for c, share in parts:
                        self.gone[c] = self.gone.get(c, 0.0) + share
                    continue
                age = limit
            for c, share in parts:
                row = waiting.get(c)
                if row is None:
                    row = waiting[c] = [0.0] * count
                row[bucket[age]] += share
        for key in old:
            del self.info[key]
            self.slow.pop(key, None)
            self.fast.pop(key, None)
        zero = [0.0] * count
        leaves = {}
        groups = {}
        for c in set(self.events) | set(waiting) | set(self.gone):
            e = self.events.get(c, zero)
            w = waiting.get(c, zero)
            risk = [0.0] * count
            alive = self.gone.get(c, 0.0)
            for i in range(count - 1, -1, -1):
                risk[i] = alive + e[i] + 0.5 * w[i]
                alive += e[i] + w[i]
            if alive < 0.02 and c not in waiting:
                self.events.pop(c, None)
                self.gone.pop(c, None)
                continue
            leaves[c] = (e, risk)
            for name in ("all", ("s", c[0]), ("g", c[1]), ("u", c[2]), ("su", c[0], c[2])):
                total = groups.get(name)
                if total is None:
                    groups[name] = (list(e), list(risk))
                    continue
                te, tr = total
                for i in range(count):
                    te[i] += e[i]
                    tr[i] += risk[i]
        e, r = groups["all"]
        base = [(e[i] + 0.02) / (r[i] + 1.0) for i in range(count)]
        rates = {}
        for name, (e, r) in groups.items():
            if len(name) == 2:
                rates[name] = [(e[i] + SHRINK * base[i]) / (r[i] + SHRINK) for i in range(count)]
        kinds = {}
        for name, (e, r) in groups.items():
            if name[0] == "su":
                ps = rates[("s", name[1])]
                pu = rates[("u", name[2])]
                kinds[(name[1], name[2])] = self._index(
                    [
                        (e[i] + SHRINK * 0.5 * (ps[i] + pu[i])) / (r[i] + SHRINK)
                        for i in range(count)
                    ]
                )
        self.kinds = kinds
        self.prior = (base, rates)
        tables = {}
        for c in waiting:
            e, r = leaves[c]
            p = self._guess(c)
            tables[c] = self._index(
                [(e[i] + SHRINK * p[i]) / (r[i] + SHRINK) for i in range(count)]
            )
        self.tables = tables

    def _guess(self, c):
        """The hazards of a class from those of its parts."""
        base, rates = self.prior
        ps = rates.get(("s", c[0]), base)
        pg = rates.get(("g", c[1]), base)
        pu = rates.get(("u", c[2]), base)
        result = []
        for i in range(self.count):
            b = base[i]
            p = b * (ps[i] / b) ** 0.7 * (pg[i] / b) ** 0.7 * (pu[i] / b) ** 0.5
            result.append(p if p < 0.9 else 0.9)
        return result

    def _late(self, c):
        """The table of a class that was not there at the last fit."""
        if not self.tables:
            return self.default
        table = self.tables[c] = self._index(self._guess(c))
        return table

    def _index(self, hazard):
        """For each age the logarithm of the largest hits per time until any later age, by a concave hull."""
        count = self.count
        width = self.width
        xs = [0.0]
        ys = [0.0]
        alive = 1.0
        x = y = 0.0
        for i in range(count):
            p = min(hazard[i], 0.98)
            y += alive * p
            x += alive * width[i] * (1.0 - 0.5 * p)
            alive = max(alive * (1.0 - p), 1e-9)
            xs.append(x)
            ys.append(y)
        result = [0.0] * count
        stack = [count]
        for i in range(count - 1, -1, -1):
            while len(stack) > 1:
                a = stack[-1]
                b = stack[-2]
                if (ys[a] - ys[i]) * (xs[b] - xs[i]) <= (ys[b] - ys[i]) * (xs[a] - xs[i]):
                    stack.pop()
                else:
                    break
            a = stack[-1]
            result[i] = math.log((ys[a] - ys[i]) / (xs[a] - xs[i] + 1e-12) + 1e-12)
            stack.append(i)
        return result

    def _seen(self, key, source):
        self.now += 1
        now = self.now
        source &= 15
        # Decayed counts as logarithms of sums of exponentials, which need no ageing.
        for table, rate in ((self.fast, self.fast_rate), (self.slow, self.slow_rate)):
            fresh = rate * now
            value = table.get(key)
            if value is None:
                table[key] = fresh
            else:
                top = value if value > fresh else fresh
                table[key] = top + math.log1p(math.exp(-abs(value - fresh)))
        self._learn(key, source)
        keep = self.keep
        first = self.shadows[0]
        has_first = key in first.keys
        best = first
        most = 0.0
        for shadow in self.shadows:
            keys = shadow.keys
            has = key in keys
            if shadow is not first:
                shadow.lead *= keep
                shadow.odds *= keep
                if has != has_first:
                    shadow.lead += 1.0 if has else -1.0
                    shadow.odds += 1.0
                proof = 0.3 if shadow is self.leader else 1.2
                sure = shadow.lead - proof * math.sqrt(shadow.odds + 1.0)
                if sure > most:
                    best = shadow
                    most = sure
            if not has:
                keys.add(key)
                if len(keys) > self.capacity:
                    keys.discard(min(keys, key=shadow.rule))
        self.leader = best

    def hit(self, key, source):
        """A key was asked for that is held."""
        self._seen(key, source)

    def miss(self, key, source, full):
        """A key was asked for that is not held. Returns the key to drop where the cache is full."""
        self._seen(key, source)
        held = self.held
        held.add(key)
        if not full:
            return None
        victim = min(held, key=self.leader.rule)
        held.discard(victim)
        return victim
