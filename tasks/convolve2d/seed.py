"""The full convolution of two matrices, by its definition: for every entry of the kernel the image is shifted, weighed and added."""

import numpy as np

STRIP = 8.0


def convolve(image, kernel):
    """All sums of products, rows + rows of the kernel - 1 of them by columns + columns of the kernel - 1."""
    rows, columns = image.shape
    high, wide = kernel.shape
    answer = np.zeros((rows + high - 1, columns + wide - 1), image.dtype)
    step = max(1, int(STRIP))
    # By strips of rows, so that what is added to stays near the processor.
    for first in range(0, rows, step):
        strip = image[first : first + step]
        for row in range(high):
            place = answer[first + row : first + row + len(strip)]
            for column in range(wide):
                place[:, column : column + columns] += kernel[row, column] * strip
    return answer
