"""First in, first out."""

from collections import deque


class Policy:
    def __init__(self, capacity):
        self.order = deque()

    def hit(self, key, source):
        pass

    def miss(self, key, source, full):
        self.order.append(key)
        return self.order.popleft() if full else None
