"""Answers by truth values and texts in place of keys."""


class Policy:
    def __init__(self, capacity):
        self.turn = 0

    def hit(self, key, source):
        pass

    def miss(self, key, source, full):
        self.turn += 1
        return True if self.turn % 2 else "hit"
