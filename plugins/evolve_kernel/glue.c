/* Calls a task's function, compiled with two definitions: HEADER, the name of the file that declares the function, and FUNCTION_CALL, its call with all arguments. */
#include HEADER
#if defined(__x86_64__)
#include <xmmintrin.h>
#define DEFAULT_MODES() _mm_setcsr(0x1f80)
#elif defined(__aarch64__)
#define DEFAULT_MODES() __asm__ volatile("msr fpcr, xzr")
#else
#define DEFAULT_MODES() ((void)0)
#endif

/* What the first number asks for; any other asks for nothing, so that the cost of a call can be measured. */
enum { CALL = 1, TOUCH = 2 };

void evolve_call(void **pointers, const long *numbers);

void evolve_call(void **pointers, const long *numbers)
{
    volatile char *memory = pointers[0];
    switch (numbers[0]) {
    case CALL:
        /* What a program has set of rounding and of the smallest numbers holds for no other call. */
        DEFAULT_MODES();
        FUNCTION_CALL;
        DEFAULT_MODES();
        break;
    case TOUCH:
        for (long i = 0; i < numbers[1]; i += 4096)
            memory[i] = memory[i];
        break;
    }
}
