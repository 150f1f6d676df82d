/* fuzz_png.c - PNG files. */
#include "images.h"
