/* What a program must define: the softmax of each row. Both arrays hold rows * columns numbers, row after row; they do not overlap. */
#ifdef __cplusplus
extern "C"
#endif
void softmax(float *out, const float *in, long rows, long columns);
