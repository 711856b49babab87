import triton
import triton.language as tl

EPSILON = 1e-5

# EVOLVE-BLOCK-START
BLOCK = 1 << 10  # numbers of a row that are worked on at once
WARPS = 1 << 2


@triton.jit
def layernorm_row(out, given, weight, bias, columns, epsilon, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    places = tl.arange(0, block)
    sums = tl.zeros((block,), tl.float32)
    for first in range(0, columns, block):
        sums += tl.load(given + row + first + places, mask=first + places < columns, other=0)
    mean = tl.sum(sums, 0) / columns
    squares = tl.zeros((block,), tl.float32)
    for first in range(0, columns, block):
        inside = first + places < columns
        off = tl.load(given + row + first + places, mask=inside, other=0) - mean
        squares += tl.where(inside, off * off, 0)
    deviation = tl.sqrt(tl.sum(squares, 0) / columns + epsilon)
    for first in range(0, columns, block):
        inside = first + places < columns
        off = tl.load(given + row + first + places, mask=inside, other=0) - mean
        scale = tl.load(weight + first + places, mask=inside, other=0)
        shift = tl.load(bias + first + places, mask=inside, other=0)
        tl.store(out + row + first + places, off / deviation * scale + shift, mask=inside)


def launch(out, given, weight, bias, rows, columns):
    layernorm_row[(rows,)](out, given, weight, bias, columns, EPSILON, block=BLOCK, num_warps=WARPS)


# EVOLVE-BLOCK-END
