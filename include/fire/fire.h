/* fire.h - all public headers of libfire, and its version.
 *
 * Rules that hold for every function:
 * - A function that can fail returns a fire_status_t (status.h): negative is a failure,
 *   and fire_last_error() of the same thread tells why. What it makes is its last
 *   argument, named *_p, which is set only on success.
 * - Whoever creates an object destroys it. Pointers that a function hands out belong to
 *   the object asked, unless its comment says otherwise.
 * - Different threads may use different objects at the same time. One object is used by
 *   one thread at a time; the caller locks if several share it.
 * - An options struct begins with its size, so that later versions can add members
 *   without breaking programs compiled today. Always start from its _INIT macro.
 * - The library never prints and never exits. Messages go to a sink (log.h). */
#ifndef FIRE_FIRE_H
#define FIRE_FIRE_H
#include <fire/blob.h>
#include <fire/comm.h>
#include <fire/layer.h>
#include <fire/log.h>
#include <fire/memory.h>
#include <fire/net.h>
#include <fire/onnx.h>
#include <fire/python.h>
#include <fire/recorder.h>
#include <fire/source.h>
#include <fire/status.h>
#include <fire/trainer.h>

FIRE_BEGIN_C
/* The version of these headers. */
#define FIRE_VERSION_MAJOR 0
#define FIRE_VERSION_MINOR 1
#define FIRE_VERSION_PATCH 0

/* The version of the library that runs, as "0.1.0". Static text; never fails; any
 * thread may call it. */
FIRE_API const char *fire_version(void);
FIRE_END_C
#endif
