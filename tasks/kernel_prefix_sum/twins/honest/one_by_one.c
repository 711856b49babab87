#include "prefix_sum.h"

/* One addition after the other. */
void prefix_sum(float *out, const float *in, long rows, long columns)
{
    for (long r = 0; r < rows; r++) {
        float sum = 0;
        for (long i = r * columns; i < (r + 1) * columns; i++) {
            sum += in[i];
            out[i] = sum;
        }
    }
}
