"""The nearest positive semidefinite matrix, by the sign of a symmetric matrix: its negative eigenvalues become 0, the others stay.

The sign is found by Newton and Schulz's iteration, which needs products of matrices alone."""

import numpy as np

STEPS = 70.0
DIGITS = 15.0


def project(matrix):
    """Half of the sum of the matrix and its absolute value, which is its sign times itself."""
    size = np.linalg.norm(matrix)
    if not size:
        return matrix
    small = 10**-DIGITS
    sign = matrix / size
    for _ in range(max(1, int(STEPS))):
        change = (sign - sign @ sign @ sign) / 2
        # Symmetric to the last digit, or rounding would grow where eigenvalues are 0.
        change = (change + change.T) / 2
        sign = sign + change
        if np.linalg.norm(change) < small:
            break
    answer = (matrix + sign @ matrix) / 2
    return (answer + answer.T) / 2
