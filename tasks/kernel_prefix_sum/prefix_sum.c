#include "prefix_sum.h"

/* LENGTH numbers at a time: lane l has ROUNDS neighbours, from l * ROUNDS on, and all lanes are summed side by side. */
enum { LANES = 1 << 2, ROUNDS = 1 << 3, LENGTH = LANES * ROUNDS };

/* The sums of the next LENGTH numbers, when `before` is that of all before them; returns the last. */
static float sum_lanes(float *out, const float *in, float before)
{
    float sums[ROUNDS][LANES], starts[LANES];
    for (long r = 0; r < ROUNDS; r++)
        for (long l = 0; l < LANES; l++)
            sums[r][l] = in[l * ROUNDS + r];
    for (long r = 1; r < ROUNDS; r++)
        for (long l = 0; l < LANES; l++)
            sums[r][l] += sums[r - 1][l];
    for (long l = 0; l < LANES; l++) {
        starts[l] = before;
        before += sums[ROUNDS - 1][l];
    }
    for (long r = 0; r < ROUNDS; r++)
        for (long l = 0; l < LANES; l++)
            out[l * ROUNDS + r] = starts[l] + sums[r][l];
    return before;
}

static void sum_row(float *out, const float *in, long columns)
{
    float sum = 0;
    long c = 0;
    for (; c + LENGTH <= columns; c += LENGTH)
        sum = sum_lanes(out + c, in + c, sum);
    for (; c < columns; c++) {
        sum += in[c];
        out[c] = sum;
    }
}

void prefix_sum(float *out, const float *in, long rows, long columns)
{
    for (long r = 0; r < rows; r++)
        sum_row(out + r * columns, in + r * columns, columns);
}
