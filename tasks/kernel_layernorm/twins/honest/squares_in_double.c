#include "layernorm.h"

/* One pass for mean and variance, which double precision can afford. */
void layernorm(float *out, const float *in, const float *weight, const float *bias, long rows, long columns)
{
    for (long r = 0; r < rows; r++, in += columns, out += columns) {
        double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
        for (long c = 0; c < columns; c++) {
            const double x = in[c];
            sum += x;
            squares += x * x;
        }
        const double mean = sum / (double)columns, variance = squares / (double)columns - mean * mean;
        const double scale = 1 / __builtin_sqrt((variance > 0 ? variance : 0) + (double)LAYERNORM_EPSILON);
        for (long c = 0; c < columns; c++)
            out[c] = (float)((in[c] - mean) * scale) * weight[c] + bias[c];
    }
}
