/* installed.h - files that are installed with the program: models, machines, data. */
#ifndef FIRE_BASE_INSTALLED_H
#define FIRE_BASE_INSTALLED_H
#include "base/error.h"

/* Find `relative`, for instance "models/lenet/solver.prototxt", in the folder
 * share/firecaffe of the installation that this code belongs to, and write its path to
 * path_p[0..size). The installation is found from where the program or libfire.so is,
 * so it may be moved as a whole. Returns false, and an empty text, if there is no such
 * file, if `relative` begins with "/" or if a component of it is "..". */
bool fire_installed_find(const char *relative, char *path_p, size_t size);
#endif
