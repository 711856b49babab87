/* Nearly the best three. */
static const double ODD[] = {
    0.99986, -0.16585, 0.00757,
};
