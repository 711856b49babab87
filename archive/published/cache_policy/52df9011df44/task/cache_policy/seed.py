"""Least recently used: what was asked for longest ago is dropped."""


class Policy:
    """Decides what a cache of `capacity` keys drops."""

    def __init__(self, capacity):
        self.last = {}
        self.now = 0

    def hit(self, key, source):
        """A key was asked for that is held."""
        self.now += 1
        self.last[key] = self.now

    def miss(self, key, source, full):
        """A key was asked for that is not held. Returns the key to drop where the cache is full."""
        self.now += 1
        victim = min(self.last, key=self.last.get) if full else None
        if full:
            del self.last[victim]
        self.last[key] = self.now
        return victim
