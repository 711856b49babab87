#include "stencil.h"

static long within(long index, long count)
{
    return index < 0 ? 0 : index < count ? index : count - 1;
}

/* Asks for each neighbour whether it is inside. */
void stencil(float *out, const float *in, const float *weights, long rows, long columns)
{
    for (long r = 0; r < rows; r++)
        for (long c = 0; c < columns; c++) {
            float sum = 0;
            for (long i = 0; i < 3; i++)
                for (long j = 0; j < 3; j++)
                    sum += weights[3 * i + j] * in[within(r + i - 1, rows) * columns + within(c + j - 1, columns)];
            out[r * columns + c] = sum;
        }
}
