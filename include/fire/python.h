/* python.h - layers written in Python, for a program that runs a Python interpreter
 * itself: the caffe module, for example. It says how to create the objects and call
 * their methods, and gives that to the nets it creates (fire_net_config_t.python). A net
 * without a host opens an interpreter of its own for its first Python layer. */
#ifndef FIRE_PYTHON_H
#define FIRE_PYTHON_H
#include <fire/layer.h>

FIRE_BEGIN_C
/* Functions of the host. The net calls, for each layer of type "Python": create and setup
 * once; reshape after setup and, as in Caffe, before each forward; forward; backward;
 * destroy at the end, also after a failed setup. They come from the thread that creates,
 * runs or destroys the net; with several workers as threads from each of them at the same
 * time, for layers of different nets.
 *
 * A function that fails reports why with fire_fail() and returns its status: the call of
 * the net that it was called from fails with it, and with the layer's name put before
 * the message. The host may keep the exception and raise it there.
 *
 * Blobs of the layer are those of fire_layer_bottom() and the like, on the CPU. backward
 * overwrites the diffs of the bottoms for which fire_layer_wants_bottom(), and adds to
 * the diffs of parameters. */
typedef struct fire_python_host {
    size_t size; /* sizeof(fire_python_host_t) */
    void  *arg;
    /* Make an object of class `name` of `module`, with these settings. *object_p is what
     * the other functions get, and fire_net_python_object() returns. */
    fire_status_t (*create)(void *arg, fire_layer_t *layer, const char *module,
                            const char *name, const char *param_str, void **object_p);
    fire_status_t (*setup)(void *arg, void *object, fire_layer_t *layer);
    fire_status_t (*reshape)(void *arg, void *object, fire_layer_t *layer);
    fire_status_t (*forward)(void *arg, void *object, fire_layer_t *layer);
    fire_status_t (*backward)(void *arg, void *object, fire_layer_t *layer);
    void (*destroy)(void *arg, void *object);
} fire_python_host_t;

/* In setup: append a parameter of this shape, filled with zeros, which the solver updates
 * from its gradient and snapshots contain. Fails with FIRE_ERR_INVALID for a shape that
 * cannot be, FIRE_ERR_NOMEM. */
FIRE_CALL fire_python_add_param(fire_layer_t *layer, int ndim, const int64_t *dim);

/* The object of a layer; NULL if it is not of type "Python" or the net has no host. It
 * belongs to the net. */
FIRE_API void *fire_net_python_object(const fire_net_t *net, int layer);
FIRE_END_C
#endif
