#include <math.h>

// EVOLVE-BLOCK-START
double approx(double x)
{
    double y = x - x * x * x / 6;
    return y;
}
// EVOLVE-BLOCK-END

int main(void) { return approx(0.5) < 0; }
