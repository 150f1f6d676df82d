/* layer.h - what a layer of a net is, as the functions that compute it see it. Valid
 * while the net calls them, in the thread that it calls. */
#ifndef FIRE_LAYER_H
#define FIRE_LAYER_H
#include <fire/blob.h>
#include <fire/net.h>

FIRE_BEGIN_C
/* A layer of a net. The net owns it. */
typedef struct fire_layer fire_layer_t;

/* The i-th layer type that nets may have, "Convolution"; NULL from their number on. They
 * are in no certain order. Static text; any thread may call it. */
FIRE_API const char *fire_layer_type_at(int i);

FIRE_API const char      *fire_layer_name(const fire_layer_t *l);
FIRE_API const char      *fire_layer_type(const fire_layer_t *l);
FIRE_API fire_net_phase_t fire_layer_phase(const fire_layer_t *l);

/* Bottoms, tops and parameters. 0 <= i < their number, which is not checked. Access
 * elements with fire_blob_read(), fire_blob_write() and fire_blob_update(). Only reshape
 * may shape tops. */
FIRE_API int          fire_layer_nbottom(const fire_layer_t *l);
FIRE_API fire_blob_t *fire_layer_bottom(const fire_layer_t *l, int i);
FIRE_API int          fire_layer_ntop(const fire_layer_t *l);
FIRE_API fire_blob_t *fire_layer_top(const fire_layer_t *l, int i);
FIRE_API int          fire_layer_nparam(const fire_layer_t *l);
FIRE_API fire_blob_t *fire_layer_param(const fire_layer_t *l, int i);

/* In backward: is the gradient of this bottom, or of this parameter, wanted? */
FIRE_API bool fire_layer_wants_bottom(const fire_layer_t *l, int i);
FIRE_API bool fire_layer_wants_param(const fire_layer_t *l, int i);
FIRE_END_C
#endif
