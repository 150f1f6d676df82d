/* shape.h - checks that a JSON value has the members and types that its reader
 * expects. */
#ifndef FIRE_REPORT_SHAPE_H
#define FIRE_REPORT_SHAPE_H
#include "base/text/json.h"

/* A shape is written like an example: s is a string, n a number (or null), [s] an array
 * of strings, (s n) an array of exactly these two, {name:s size:n?} an object with
 * these members and any others. What ends in ? may be missing. */
bool fire_json_fits(const fire_json_t *json, const char *shape);
#endif
