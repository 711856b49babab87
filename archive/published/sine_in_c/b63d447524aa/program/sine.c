#include "sine.h"
#include "coefficients.h"

#define TERMS ((int)(sizeof ODD / sizeof ODD[0]))

double sine(double angle)
{
    /* EVOLVE-BLOCK-START */
    const double square = angle * angle;
    double sum = ODD[TERMS - 1];
    for (int term = TERMS - 1; term > 0; term--)
        sum = sum * square + ODD[term - 1];
    return angle * sum;
    /* EVOLVE-BLOCK-END */
}
