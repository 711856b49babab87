/* What this machine can do at most, as far as plain code of the judge's shows: reading memory, and multiplying and adding.
 *
 * numbers[0]: 0 nothing, 1 reading, 2 arithmetic in registers of 32 bytes, 3 of 64. numbers[1]: how often. numbers[2]: bytes.
 * pointers[0]: where a result goes, so that nothing is left out; pointers[1]: what is read.
 *
 * Invariant: each time of reading reads all bytes; each time of arithmetic is ten independent chains, of two operations for each number. */
typedef float narrow __attribute__((vector_size(32)));
typedef float wide __attribute__((vector_size(64)));
typedef unsigned long words __attribute__((vector_size(64)));

void evolve_call(void **pointers, const long *numbers);

static unsigned long reading(const words *from, long times, long bytes) {
  words a = {0}, b = {0}, c = {0}, d = {0};
  for (long time = 0; time < times; time++) {
    for (long i = 0; i + 4 <= bytes / 64; i += 4) {
      a += from[i];
      b += from[i + 1];
      c += from[i + 2];
      d += from[i + 3];
    }
    __asm__ volatile("" : : : "memory");
  }
  a += b + c + d;
  return a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
}

#define ARITHMETIC(name, type, last)                                                                      \
  static float name(long times, float by) {                                                               \
    type factor = (type){0} + by, a = factor, b = factor, c = factor, d = factor, e = factor, f = factor, \
         g = factor, h = factor, i = factor, j = factor;                                                  \
    for (long time = 0; time < times; time++) {                                                           \
      a = a * factor + factor;                                                                            \
      b = b * factor + factor;                                                                            \
      c = c * factor + factor;                                                                            \
      d = d * factor + factor;                                                                            \
      e = e * factor + factor;                                                                            \
      f = f * factor + factor;                                                                            \
      g = g * factor + factor;                                                                            \
      h = h * factor + factor;                                                                            \
      i = i * factor + factor;                                                                            \
      j = j * factor + factor;                                                                            \
    }                                                                                                     \
    a = a + b + c + d + e + f + g + h + i + j;                                                            \
    return a[0] + a[last];                                                                                \
  }
ARITHMETIC(narrow_arithmetic, narrow, 7)
ARITHMETIC(wide_arithmetic, wide, 15)

void evolve_call(void **pointers, const long *numbers) {
  float *result = pointers[0];
  /* Nothing that the compiler could know: the result is read before it is written. */
  float by = result ? *result : 0;
  switch (numbers[0]) {
    case 1: *(unsigned long *)result = reading(pointers[1], numbers[1], numbers[2]); break;
    case 2: *result = narrow_arithmetic(numbers[1], by); break;
    case 3: *result = wide_arithmetic(numbers[1], by); break;
  }
}
