class Patience:
    def __init__(self, inner, wait_seconds):
        self.inner = inner

    def complete(self, prompt, **k):
        return self.inner.complete(prompt, **k)
