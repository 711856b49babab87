/* The polynomial: the numbers before angle, angle^3, angle^5, ... */
static const double ODD[] = {
    /* EVOLVE-BLOCK-START */
    0.9996132275778528, -0.16551526137690314, 0.007458467616971974,
    /* EVOLVE-BLOCK-END */
};
