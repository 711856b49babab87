#include "stencil.h"

static long within(long index, long count)
{
    return index < 0 ? 0 : index < count ? index : count - 1;
}

/* No question whether a column is inside: what is left of the first one is the end of the row before. */
void stencil(float *out, const float *in, const float *weights, long rows, long columns)
{
    const long last = rows * columns;
    for (long r = 0; r < rows; r++)
        for (long c = 0; c < columns; c++) {
            float sum = 0;
            for (long i = 0; i < 3; i++)
                for (long j = 0; j < 3; j++)
                    sum += weights[3 * i + j] * in[within(within(r + i - 1, rows) * columns + c + j - 1, last)];
            out[r * columns + c] = sum;
        }
}
