/* installed.h - files that are installed with the program: models, machines, data,
 * modules. */
#ifndef FIRE_BASE_INSTALLED_H
#define FIRE_BASE_INSTALLED_H
#include "base/error.h"

/* Find `relative`, for instance "models/lenet/solver.prototxt", in the folder
 * share/firecaffe of the installation that this code belongs to, and write its path to
 * path_p[0..size). The installation is found from where the program or libfire.so is,
 * so it may be moved as a whole. Returns false, and an empty text, if there is no such
 * file, if `relative` begins with "/" or if a component of it is "..". */
bool fire_installed_find(const char *relative, char *path_p, size_t size);

/* Find a module, a shared object that is opened when it is needed, in the folder
 * lib/firecaffe of the same installation (in a build, of the build folder), and write
 * its path to path_p[0..size). If there is none, returns false and writes the folders
 * looked in, for a message. */
bool fire_installed_module(const char *name, char *path_p, size_t size);
#endif
