/* strip.h - binary nets of Caffe's forks. A fork may use the number of a field for
 * another one than Caffe: such a file cannot be unpacked as a NetParameter, but its
 * layers' names and weights are where Caffe has them. */
#ifndef FIRE_MODEL_FORKS_STRIP_H
#define FIRE_MODEL_FORKS_STRIP_H
#include <stdbool.h>
#include <stddef.h>

/* Take the settings out of the layers of a net of n bytes, in place: what remains of a
 * layer is what every Caffe has (name, type, bottoms, tops, blobs, ...). Sets *n_p to the
 * new length. False if this is no message at all; the bytes are worthless then. */
bool fire_foreign_strip(void *bytes, size_t n, size_t *n_p);
#endif
