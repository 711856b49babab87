#include "stencil.h"

/* The grid is done in tiles, each copied with its neighbours around it. */
enum { HEIGHT = 1 << 3, WIDTH = 1 << 5 };
/* Sizes that the problem decides, written with ones, which are not tuned: how much a tile grows by its neighbours, and a stencil's side. */
enum { AROUND = 1 + 1, SIDE = AROUND + 1 };

static long within(long index, long count)
{
    return index < 0 ? 0 : index < count ? index : count - 1;
}

static void copy_row(float *to, const float *row, long left, long width, long columns)
{
    to[0] = row[within(left - 1, columns)];
    for (long c = 0; c < width; c++)
        to[c + 1] = row[left + c];
    to[width + 1] = row[within(left + width, columns)];
}

static void weigh_row(float *out, const float (*tile)[WIDTH + AROUND], const float *weights, long width)
{
    for (long c = 0; c < width; c++) {
        float sum = 0;
        for (long i = 0; i < SIDE; i++)
            for (long j = 0; j < SIDE; j++)
                sum += weights[i * SIDE + j] * tile[i][c + j];
        out[c] = sum;
    }
}

void stencil(float *out, const float *in, const float *weights, long rows, long columns)
{
    float tile[HEIGHT + AROUND][WIDTH + AROUND];
    for (long top = 0; top < rows; top += HEIGHT)
        for (long left = 0; left < columns; left += WIDTH) {
            const long height = rows - top < HEIGHT ? rows - top : HEIGHT;
            const long width = columns - left < WIDTH ? columns - left : WIDTH;
            for (long r = 0; r < height + AROUND; r++)
                copy_row(tile[r], in + within(top + r - 1, rows) * columns, left, width, columns);
            for (long r = 0; r < height; r++)
                weigh_row(out + (top + r) * columns + left, tile + r, weights, width);
        }
}
