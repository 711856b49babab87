/* What a program must define: of each row the k largest numbers, the largest first, and where in the row they stand.

   Of equal numbers the one with the lower index comes first. in has rows * columns numbers, row after row; values and
   indices have rows * k. 1 <= k <= columns. */

#ifdef __cplusplus
extern "C"
#endif
void topk(float *values, int *indices, const float *in, long rows, long columns, long k);
