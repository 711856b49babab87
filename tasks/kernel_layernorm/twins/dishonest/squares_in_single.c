#include "layernorm.h"

/* One pass for mean and variance: where the mean is large, what is left of two large numbers is their rounding. */
void layernorm(float *out, const float *in, const float *weight, const float *bias, long rows, long columns)
{
    for (long r = 0; r < rows; r++, in += columns, out += columns) {
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
        for (long c = 0; c < columns; c++) {
            sum += in[c];
            squares += in[c] * in[c];
        }
        const float mean = sum / (float)columns, variance = squares / (float)columns - mean * mean;
        const float scale = 1 / __builtin_sqrtf((variance > 0 ? variance : 0) + LAYERNORM_EPSILON);
        for (long c = 0; c < columns; c++)
            out[c] = (in[c] - mean) * scale * weight[c] + bias[c];
    }
}
