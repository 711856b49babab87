/* Taylor's five terms, the smallest first. */
#include "sine.h"

double sine(double angle)
{
    const double square = angle * angle;
    double sum = 1.0 / 362880.0;
    sum = sum * square - 1.0 / 5040.0;
    sum = sum * square + 1.0 / 120.0;
    sum = sum * square - 1.0 / 6.0;
    sum = sum * square + 1.0;
    return angle * sum;
}
