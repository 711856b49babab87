/* What a program must define: out[r][c] = in[r][0] + in[r][1] + ... + in[r][c], for each row r.

   in and out have rows * columns numbers, row after row. */

#ifdef __cplusplus
extern "C"
#endif
void prefix_sum(float *out, const float *in, long rows, long columns);
