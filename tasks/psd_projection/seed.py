"""The nearest positive semidefinite matrix, by the sign of a symmetric matrix: its negative eigenvalues become 0, the others stay.

The sign is found by Newton and Schulz's iteration, which needs products of matrices alone."""

import numpy as np

STEPS = 70.0
SMALL = 1e-15


def project(matrix):
    """Half of the sum of the matrix and its absolute value, which is its sign times itself."""
    size = np.linalg.norm(matrix)
    if size == 0.0:
        return matrix
    sign = matrix / size
    for _ in range(max(1, int(STEPS))):
        change = 0.5 * (sign - sign @ sign @ sign)
        # Symmetric to the last digit, or rounding would grow where eigenvalues are 0.
        change = 0.5 * (change + change.T)
        sign = sign + change
        if np.linalg.norm(change) < SMALL:
            break
    answer = 0.5 * (matrix + sign @ matrix)
    return 0.5 * (answer + answer.T)
