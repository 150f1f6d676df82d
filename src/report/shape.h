/* shape.h - is a JSON value what its reader takes it for? */
#ifndef FIRE_REPORT_SHAPE_H
#define FIRE_REPORT_SHAPE_H
#include "base/text/json.h"

/* A shape is written as an example: s a string, n a number (or null), [s] an array of
 * strings, (s n) an array of just these, {name:s size:n?} an object with these members
 * and any others; what ends in ? may be missing. */
bool fire_json_fits(const fire_json_t *json, const char *shape);
#endif
