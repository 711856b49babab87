import triton
import triton.language as tl

BLOCK = 1 << 10  # numbers of a row that are looked at at once
WARPS = 1 << 2


@triton.jit
def topk_row(values, indices, given, columns, k, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    places = tl.arange(0, block)
    # The number that was found last, and where: what is smaller, or equal and further right, comes after it.
    last = tl.max(tl.full((block,), float("inf"), tl.float32), 0)
    at = tl.min(places, 0) - 1
    for place in range(k):
        best = tl.full((block,), float("-inf"), tl.float32)
        where = tl.full((block,), 0, tl.int32) + columns
        for first in range(0, columns, block):
            index = first + places
            value = tl.load(given + row * columns + index, mask=index < columns, other=float("-inf"))
            comes_after = (value < last) | ((value == last) & (index > at))
            better = comes_after & (value > best)
            best = tl.where(better, value, best)
            where = tl.where(better, index, where)
        last = tl.max(best, 0)
        at = tl.min(tl.where(best == last, where, columns), 0)
        tl.store(values + row * k + place, last)
        tl.store(indices + row * k + place, at)


def launch(values, indices, given, rows, columns, k):
    topk_row[(rows,)](values, indices, given, columns, k, block=BLOCK, num_warps=WARPS)
