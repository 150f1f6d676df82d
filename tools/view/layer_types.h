/* layer_types.h - which layer types there are, and what stands behind each. */
#ifndef FIRE_TOOLS_VIEW_LAYER_TYPES_H
#define FIRE_TOOLS_VIEW_LAYER_TYPES_H

void layer_types_print(void);
#endif
