/* The compiler's own sine. */
#include "sine.h"

double sine(double angle)
{
    return __builtin_sin(angle);
}
