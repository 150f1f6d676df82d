/* describe.h - describes a net as JSON, for run logs, drawings and other programs. */
#ifndef FIRE_NET_DESCRIBE_H
#define FIRE_NET_DESCRIBE_H
#include "base/text/json.h"
#include "net/net.h"

/* Write an array under `key` with an object per layer: name, type, bottoms, tops,
 * shapes of the tops, number of parameters, multiply-adds of a forward pass, kernel. */
void fire_net_describe(fire_json_writer_t *w, const char *key, const fire_net_t *net);
#endif
