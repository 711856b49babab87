/* The sine of the mathematical library. */
#include "sine.h"

double sin(double angle);

double sine(double angle)
{
    return sin(angle);
}
