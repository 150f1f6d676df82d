/* nets.h - nets for the tests of src/net, from text or from a file of tests/net. */
#ifndef FIRE_TESTS_NETS_H
#define FIRE_TESTS_NETS_H
#include "net/net.h"
#include "test.h"

/* From a prototxt's text. */
Caffe__NetParameter *net_param(const char *text);
fire_net_t          *net_make(const char *text, Caffe__Phase phase);
fire_status_t        net_try(const char *text, Caffe__Phase phase, fire_net_t **net_p);

/* From tests/net/NAME.prototxt. */
Caffe__NetParameter *net_file(const char *name);
fire_net_t          *net_make_file(const char *name, Caffe__Phase phase);

/* All data of a blob becomes `value`. */
void net_fill(fire_net_t *net, const char *blob, float value);
#endif
