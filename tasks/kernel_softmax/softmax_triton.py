import triton
import triton.language as tl

BLOCK = 1 << 10  # numbers of a row that are worked on at once
WARPS = 1 << 2


@triton.jit
def softmax_row(out, given, columns, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    places = tl.arange(0, block)
    largest = tl.full((block,), float("-inf"), tl.float32)
    for first in range(0, columns, block):
        value = tl.load(given + row + first + places, mask=first + places < columns, other=float("-inf"))
        largest = tl.maximum(largest, value)
    most = tl.max(largest, 0)
    sums = tl.zeros((block,), tl.float32)
    for first in range(0, columns, block):
        value = tl.load(given + row + first + places, mask=first + places < columns, other=float("-inf"))
        sums += tl.exp(value - most)
    total = tl.sum(sums, 0)
    for first in range(0, columns, block):
        inside = first + places < columns
        value = tl.load(given + row + first + places, mask=inside, other=float("-inf"))
        tl.store(out + row + first + places, tl.exp(value - most) / total, mask=inside)


def launch(out, given, rows, columns):
    softmax_row[(rows,)](out, given, columns, block=BLOCK, num_warps=WARPS)
