/* What a program must define: each cell of a grid as the weighted sum of itself and its eight neighbours.

   out[r][c] = sum over i, j from 0 to 2 of weights[i][j] * in[r + i - 1][c + j - 1]
   where a cell outside of the grid has the value of the nearest one inside.
   in and out have rows * columns numbers, row after row; weights has 3 * 3. */

#ifdef __cplusplus
extern "C"
#endif
void stencil(float *out, const float *in, const float *weights, long rows, long columns);
