/* rows.h - copy a block of rows between two arrays with rows of different lengths. */
#ifndef FIRE_LAYERS_SHAPE_ROWS_H
#define FIRE_LAYERS_SHAPE_ROWS_H
#include <stdint.h>
#include <string.h>

/* Copy n elements of each row; rows begin every `from_step` and `to_step` elements. */
static inline void fire_rows_copy(int64_t rows, int64_t n, const float *from,
                                  int64_t from_step, float *to, int64_t to_step)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + i * to_step, from + i * from_step, (size_t)n * sizeof(*to));
}
#endif
