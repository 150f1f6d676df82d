/* enter.h - what a public function of a net does first and last. */
#ifndef FIRE_API_ENTER_H
#define FIRE_API_ENTER_H
#include "base/log.h"
#include "device/gpu.h"
#include "net/net_state.h"

/* Messages go to the net's own sink, and work to its GPU, until fire_net_leave(). */
static inline fire_log_route_t *fire_net_enter(const fire_net_t *net)
{
    if (net->ctx.stream != NULL) fire_gpu_use(net->ctx.stream);
    return fire_log_enter(net->log);
}

/* `before` is what fire_net_enter() has returned. Passes the status on. */
static inline fire_status_t fire_net_leave(fire_log_route_t *before, fire_status_t st)
{
    fire_log_leave(before);
    return st;
}
#endif
