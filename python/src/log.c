/* log.c - messages of the library and of users go to stderr, in glog's format, as those
 * of pycaffe: programs that read such logs find what they look for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "module.h"

/* Lmmdd hh:mm:ss.uuuuuu tid file:line] message. One call of fprintf() for a line, so
 * that those of several threads do not mix. */
static void write_line(void *arg, fire_log_level_t level, const char *file, int line,
                       const char *message)
{
    static const char letters[] = "IIWE";
    const char       *slash     = strrchr(file, '/');
    struct timespec   t;
    struct tm         tm;

    (void)arg;
    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &tm);
    fprintf(stderr, "%c%02d%02d %02d:%02d:%02d.%06ld %5ld %s:%d] %s\n", letters[level],
            tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
            t.tv_nsec / 1000, syscall(SYS_gettid), slash != NULL ? slash + 1 : file,
            line, message);
}

static fire_log_level_t least = FIRE_INFO;

PyObject *caffe_set_log_level(PyObject *module, PyObject *level)
{
    long n = PyLong_AsLong(level);

    (void)module;
    if (n == -1 && PyErr_Occurred()) return NULL;
    least = n <= 0 ? FIRE_INFO : n == 1 ? FIRE_WARNING : FIRE_ERROR;
    fire_log_set_sink(n <= 2 ? write_line : NULL, NULL, least);
    if (n > 2) least = FIRE_ERROR + 1;
    Py_RETURN_NONE;
}

PyObject *caffe_log(PyObject *module, PyObject *text)
{
    PyObject *bytes = PyUnicode_AsUTF8String(text);
    char     *s;

    (void)module;
    if (bytes == NULL) return NULL;
    s = PyBytes_AsString(bytes);
    if (s != NULL && least <= FIRE_INFO) write_line(NULL, FIRE_INFO, "python", 0, s);
    Py_DECREF(bytes);
    if (s == NULL) return NULL;
    Py_RETURN_NONE;
}
