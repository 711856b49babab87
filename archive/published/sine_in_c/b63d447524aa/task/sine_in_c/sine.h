/* What a program must define: the sine of an angle in radians. */
double sine(double angle);
