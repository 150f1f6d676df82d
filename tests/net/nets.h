/* nets.h - nets written in a test. */
#ifndef FIRE_TESTS_NETS_H
#define FIRE_TESTS_NETS_H
#include "net/net.h"
#include "test.h"

Caffe__NetParameter *net_param(const char *text);
fire_net_t          *net_make(const char *text, Caffe__Phase phase);
fire_status_t        net_try(const char *text, Caffe__Phase phase, fire_net_t **net_p);
#endif
