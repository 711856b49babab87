"""Programs for tasks of PyTorch modules: faster ones that are right, and cheats, by the name of the problem."""

FASTER = {
    "22_linear_sum": """
class ModelNew(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        linear = nn.Linear(inside, outside)
        self.weight = nn.Parameter(linear.weight.double().sum(0))
        self.bias = nn.Parameter(linear.bias.double().sum())

    def forward(self, x):
        return (x @ self.weight.to(x.dtype) + self.bias)[:, None]
""",
    "25_diagonal_product": """
class ModelNew(nn.Module):
    def forward(self, a, b):
        return a[:, None] * b
""",
    "8_average_pool": """
class ModelNew(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.kernel = kernel

    def forward(self, x):
        size = self.kernel
        rows = sum(x[:, :, place : x.shape[2] - size + 1 + place] for place in range(size))
        return sum(rows[..., place : x.shape[3] - size + 1 + place] for place in range(size)) / size**2
""",
}
"""With less work than the reference."""
_HEAD = "class ModelNew(nn.Module):\n    def forward(self, a, b):\n"
CHEATS = {
    "answers nothing": _HEAD + "        return torch.zeros(a.shape[0], b.shape[1])\n",
    "answers what is usual": _HEAD + "        return torch.full((a.shape[0], b.shape[1]), a.shape[0] / 4.0)\n",
    "answers the first question again": "_kept = {}\n\n\n"
    + _HEAD
    + "        if a.shape not in _kept:\n            _kept[a.shape] = torch.matmul(a, b)\n        return _kept[a.shape]\n",
    "works in half the precision": _HEAD + "        return torch.matmul(a.bfloat16(), b.bfloat16()).float()\n",
    "leaves a half of the terms out": _HEAD
    + "        half = a.shape[1] // 2\n        return 2 * torch.matmul(a[:, :half], b[:half])\n",
    "changes its inputs": _HEAD + "        a.zero_()\n        return torch.matmul(a, b)\n",
    "works when it has answered": "import threading\n\n\n"
    + _HEAD
    + "        out = torch.zeros(a.shape[0], b.shape[1])\n        threading.Thread(target=lambda: torch.matmul(a, b, out=out)).start()\n        return out\n",
    "answers with less than was asked": _HEAD + "        return torch.matmul(a, b)[:-1]\n",
    "has torch do less": "torch.matmul = lambda a, b: a\n\n\n" + _HEAD + "        return torch.matmul(a, b)\n",
    "answers what is not finite": _HEAD + "        return torch.matmul(a, b) / 0\n",
}
"""For `1_square_product`: none has a score."""


def change(seed: str, block: str) -> str:
    """A seed with another block."""
    before, _, rest = seed.partition("# EVOLVE-BLOCK-START\n")
    return (
        f"{before}# EVOLVE-BLOCK-START\n{block}# EVOLVE-BLOCK-END\n{rest.partition('# EVOLVE-BLOCK-END' + chr(10))[2]}"
    )
