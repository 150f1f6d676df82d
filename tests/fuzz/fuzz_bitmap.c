/* fuzz_bitmap.c - BMP, PGM and PPM files. */
#include "images.h"
