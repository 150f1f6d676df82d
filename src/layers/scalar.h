/* scalar.h - max, min and sign that treat NaN as Caffe's do: a NaN in the first place
 * comes through, so that a diverging net shows it. */
#ifndef FIRE_LAYERS_SCALAR_H
#define FIRE_LAYERS_SCALAR_H
#include "base/everywhere.h"

FIRE_EVERYWHERE float fire_max(float a, float b)
{
    return a < b ? b : a;
}

FIRE_EVERYWHERE float fire_min(float a, float b)
{
    return b < a ? b : a;
}

FIRE_EVERYWHERE float fire_sign(float a)
{
    return (float)((a > 0.0f) - (a < 0.0f));
}
#endif
