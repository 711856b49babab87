/* The polynomial: the numbers before angle, angle^3, angle^5, ... */
static const double ODD[] = {
    /* EVOLVE-BLOCK-START */
    0.98, -0.15, 0.006,
    /* EVOLVE-BLOCK-END */
};
