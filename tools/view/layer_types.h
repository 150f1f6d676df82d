/* layer_types.h - prints all layer types with their kernels and tests. */
#ifndef FIRE_TOOLS_VIEW_LAYER_TYPES_H
#define FIRE_TOOLS_VIEW_LAYER_TYPES_H

void layer_types_print(void);
#endif
