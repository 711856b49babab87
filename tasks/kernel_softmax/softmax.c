#include "softmax.h"

#include <float.h>
#include <string.h>

/* How many numbers of a row are worked on at once: in the search for the largest, in the exponentials, and in the division. */
enum { LARGEST = 1 << 2, EXPONENTIALS = 1 << 2, QUOTIENTS = 1 << 2 };

/* exp(x) for x up to 0: x = n ln 2 + r with a whole number n, and a polynomial in r. Below -87, where it is less than 1e-37, it is 0. */
static inline float exponential(float given)
{
    const float shift = 0x1.8p23f;
    const float least = -0x1.5cp6f;
    const float x = given < least ? least : given;
    const float shifted = x * 0x1.715476p0f + shift;
    const float n = shifted - shift;
    const float r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    float sum = 0x1.6c16c2p-10f;
    sum = sum * r + 0x1.111112p-7f;
    sum = sum * r + 0x1.555556p-5f;
    sum = sum * r + 0x1.555556p-3f;
    sum = sum * r + 0x1p-1f;
    sum = sum * r + 0x1p0f;
    sum = sum * r + 0x1p0f;
    int bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int)((unsigned)(bits + FLT_MAX_EXP - 1) << (FLT_MANT_DIG - 1));
    float power;
    memcpy(&power, &bits, sizeof power);
    return given < least ? 0 : sum * power;
}

static float largest(const float *row, long columns)
{
    float most = row[0];
    long i = 0;
    if (columns >= LARGEST) {
        float found[LARGEST];
        for (int lane = 0; lane < LARGEST; lane++)
            found[lane] = row[lane];
        for (i = LARGEST; i + LARGEST <= columns; i += LARGEST)
            for (int lane = 0; lane < LARGEST; lane++)
                found[lane] = row[i + lane] > found[lane] ? row[i + lane] : found[lane];
        for (int lane = 0; lane < LARGEST; lane++)
            most = found[lane] > most ? found[lane] : most;
    }
    for (; i < columns; i++)
        most = row[i] > most ? row[i] : most;
    return most;
}

static float exponentials(float *restrict out, const float *restrict row, long columns, float most)
{
    float sum = 0;
    long i = 0;
    if (columns >= EXPONENTIALS) {
        float sums[EXPONENTIALS] = {0};
        for (; i + EXPONENTIALS <= columns; i += EXPONENTIALS)
            for (int lane = 0; lane < EXPONENTIALS; lane++) {
                out[i + lane] = exponential(row[i + lane] - most);
                sums[lane] += out[i + lane];
            }
        for (int lane = 0; lane < EXPONENTIALS; lane++)
            sum += sums[lane];
    }
    for (long k = i; k < columns; k++)
        out[k] = exponential(row[k] - most);
    for (; i < columns; i++)
        sum += out[i];
    return sum;
}

static void divide(float *out, long columns, float sum)
{
    const float factor = 1 / sum;
    long i = 0;
    for (; i + QUOTIENTS <= columns; i += QUOTIENTS)
        for (int lane = 0; lane < QUOTIENTS; lane++)
            out[i + lane] *= factor;
    for (; i < columns; i++)
        out[i] *= factor;
}

void softmax(float *out, const float *in, long rows, long columns)
{
    for (long r = 0; r < rows; r++) {
        const float *row = in + r * columns;
        const float sum = exponentials(out + r * columns, row, columns, largest(row, columns));
        divide(out + r * columns, columns, sum);
    }
}
