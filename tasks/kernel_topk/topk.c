#include "topk.h"

/* Numbers are looked at by blocks; most have nothing that is larger than the smallest of the k largest so far. */
enum { BLOCK = 1 << 2 };

/* Puts a number behind all that are not smaller; of the `held` that are there the last one goes where there are k. */
static long put(float *values, int *indices, long held, long k, float value, long index)
{
    long place = held < k ? held : k - 1;
    for (; place > 0 && values[place - 1] < value; place--) {
        values[place] = values[place - 1];
        indices[place] = indices[place - 1];
    }
    values[place] = value;
    indices[place] = (int)index;
    return held < k ? held + 1 : k;
}

static int has_larger(const float *block, long count, float than)
{
    int larger = 0;
    for (long i = 0; i < count; i++)
        larger |= block[i] > than;
    return larger;
}

static void topk_of_row(float *values, int *indices, const float *row, long columns, long k)
{
    long held = 0, start = 0;
    for (; start < k; start++)
        held = put(values, indices, held, k, row[start], start);
    for (; start < columns; start += BLOCK) {
        const long end = start + BLOCK < columns ? start + BLOCK : columns;
        if (has_larger(row + start, end - start, values[k - 1]))
            for (long c = start; c < end; c++)
                if (row[c] > values[k - 1])
                    held = put(values, indices, held, k, row[c], c);
    }
}

void topk(float *values, int *indices, const float *in, long rows, long columns, long k)
{
    for (long r = 0; r < rows; r++)
        topk_of_row(values + r * k, indices + r * k, in + r * columns, columns, k);
}
