import math

# EVOLVE-BLOCK-START
RATE = 0.1
# EVOLVE-BLOCK-END

LIMIT = 10


# EVOLVE-BLOCK-START
def step(x):
    return x - RATE * math.sin(x)
# EVOLVE-BLOCK-END


def run(x):
    for _ in range(LIMIT):
        x = step(x)
    return x
