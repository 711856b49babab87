/* What a program must define: each row, shifted and scaled to mean 0 and variance 1, then times weight plus bias.

   in and out have rows * columns numbers, row after row; weight and bias have columns. */

/* Added to the variance. */
#define LAYERNORM_EPSILON 1e-5f

#ifdef __cplusplus
extern "C"
#endif
void layernorm(float *out, const float *in, const float *weight, const float *bias, long rows, long columns);
