/* fuzz_jpeg.c - JPEG files. */
#include "images.h"
