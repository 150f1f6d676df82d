/* forks.h - prototxts of Caffe's forks: fields that this library has not (forks.def), and
 * layers that it has under another name. */
#ifndef FIRE_MODEL_FORKS_FORKS_H
#define FIRE_MODEL_FORKS_FORKS_H
#include "caffe.pb-c.h"
#include "model/lexer.h"

/* A field that a fork adds to a message of Caffe's. */
typedef struct fire_fork_field {
    const char *message, *name;
    const char *fork; /* who has it */
    enum { FIRE_FORK_NO_EFFECT, FIRE_FORK_MISSING } kind;
} fire_fork_field_t;

/* The field of this name that forks have in a message; NULL: none is known. */
const fire_fork_field_t *fire_fork_field_find(const ProtobufCMessageDescriptor *desc,
                                              const char                       *name);

/* Skip the field whose name is the current token, with its value of any kind, and append
 * it to the list of those that were skipped, ", NAME (FORK)", once. */
fire_status_t fire_fork_field_skip(fire_lexer_t *lx, const fire_fork_field_t *field,
                                   fire_str_t *skipped);

/* Who has a layer type that BVLC Caffe has not (types.def); NULL: nobody is known. */
const char *fire_fork_of_type(const char *type);

/* Layers that are ours under another name get ours, and their settings move with them:
 * Convolution3D with convolution3d_param is Convolution with convolution_param. */
fire_status_t fire_fork_layers_upgrade(Caffe__NetParameter *net, const char *file);
#endif
