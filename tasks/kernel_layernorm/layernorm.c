#include "layernorm.h"

#include <math.h>

/* Sums that are added up side by side, since one addition need not wait for another's. */
enum { SUMS = 1 << 3 };

static float together(const float *sums)
{
    float sum = 0;
    for (long s = 0; s < SUMS; s++)
        sum += sums[s];
    return sum;
}

static float mean_of(const float *row, long columns)
{
    float sums[SUMS] = {0};
    long c = 0;
    for (; c + SUMS <= columns; c += SUMS)
        for (long s = 0; s < SUMS; s++)
            sums[s] += row[c + s];
    for (; c < columns; c++)
        sums[0] += row[c];
    return together(sums) / (float)columns;
}

static float variance_of(const float *row, long columns, float mean)
{
    float sums[SUMS] = {0};
    long c = 0;
    for (; c + SUMS <= columns; c += SUMS)
        for (long s = 0; s < SUMS; s++)
            sums[s] += (row[c + s] - mean) * (row[c + s] - mean);
    for (; c < columns; c++)
        sums[0] += (row[c] - mean) * (row[c] - mean);
    return together(sums) / (float)columns;
}

void layernorm(float *out, const float *in, const float *weight, const float *bias, long rows, long columns)
{
    for (long r = 0; r < rows; r++) {
        const float *row = in + r * columns;
        const float mean = mean_of(row, columns);
        const float scale = 1 / sqrtf(variance_of(row, columns, mean) + LAYERNORM_EPSILON);
        for (long c = 0; c < columns; c++)
            out[r * columns + c] = (row[c] - mean) * scale * weight[c] + bias[c];
    }
}
