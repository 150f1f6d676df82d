/* libraries.c - asks each library for its version. */
#include "runlog/libraries.h"

#include <stdio.h>
#include <string.h>

#include <lmdb.h>
#include <protobuf-c/protobuf-c.h>
#ifdef FIRE_HAVE_LEVELDB
#    include <leveldb/c.h>
#endif
#ifdef FIRE_HAVE_HDF5
#    include <hdf5.h>
#endif
#ifdef FIRE_HAVE_JPEG
#    include <jpeglib.h>
#endif
#ifdef FIRE_HAVE_PNG
#    include <png.h>
#endif
#ifdef FIRE_HAVE_ZLIB
#    include <zlib.h>
#endif
#ifdef FIRE_HAVE_ONEDNN
#    include <oneapi/dnnl/dnnl.h>
#endif
#ifdef FIRE_HAVE_CUDA
#    include <cuda_runtime_api.h>
#endif
#ifdef FIRE_HAVE_CUDNN
#    include <cudnn_version.h>
#endif

typedef void (*tell_t)(char *text, size_t size);

static void tell_numbers(const char *name, int major, int minor, int patch, char *text,
                         size_t size)
{
    snprintf(text, size, "%s %d.%d.%d", name, major, minor, patch);
}

static void tell_protobuf(char *text, size_t size)
{
    snprintf(text, size, "protobuf-c %s", protobuf_c_version());
}

static void tell_lmdb(char *text, size_t size)
{
    int major, minor, patch;

    mdb_version(&major, &minor, &patch);
    tell_numbers("LMDB", major, minor, patch, text, size);
}

/* Only OpenBLAS has this function: version, kind of processor, most threads. */
extern char *openblas_get_config(void) __attribute__((weak));

static void tell_blas(char *text, size_t size)
{
    snprintf(text, size, "%s",
             openblas_get_config != NULL ? openblas_get_config() : "BLAS");
    text[strcspn(text, "\n")] = '\0';
}

static void tell_compiler(char *text, size_t size)
{
#ifdef __clang__
    snprintf(text, size, "%s", __VERSION__);
#else
    snprintf(text, size, "GCC %s", __VERSION__);
#endif
}

#ifdef FIRE_HAVE_LEVELDB
static void tell_leveldb(char *text, size_t size)
{
    snprintf(text, size, "LevelDB %d.%d", leveldb_major_version(),
             leveldb_minor_version());
}
#endif

#ifdef FIRE_HAVE_HDF5
static void tell_hdf5(char *text, size_t size)
{
    /* The version of the headers: HDF5 takes one thread at a time, and another worker
     * may be using it now. */
    tell_numbers("HDF5", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, text, size);
}
#endif

#ifdef FIRE_HAVE_JPEG
static void tell_jpeg(char *text, size_t size)
{
#    ifdef LIBJPEG_TURBO_VERSION_NUMBER
    int n = LIBJPEG_TURBO_VERSION_NUMBER; /* 2001005 is 2.1.5 */

    tell_numbers("libjpeg-turbo", n / 1000000, n / 1000 % 1000, n % 1000, text, size);
#    else
    snprintf(text, size, "libjpeg %d", JPEG_LIB_VERSION);
#    endif
}
#endif

#ifdef FIRE_HAVE_PNG
static void tell_png(char *text, size_t size)
{
    snprintf(text, size, "libpng %s", png_get_libpng_ver(NULL));
}
#endif

#ifdef FIRE_HAVE_ZLIB
static void tell_zlib(char *text, size_t size)
{
    snprintf(text, size, "zlib %s", zlibVersion());
}
#endif

#ifdef FIRE_HAVE_ONEDNN
static void tell_onednn(char *text, size_t size)
{
    const dnnl_version_t *v = dnnl_version();

    tell_numbers("oneDNN", v->major, v->minor, v->patch, text, size);
}
#endif

#ifdef FIRE_HAVE_CUDA
static void tell_cuda(char *text, size_t size)
{
#    ifdef CUDART_VERSION
    int n = CUDART_VERSION; /* 12040 is 12.4; the runtime is linked in */

    snprintf(text, size, "CUDA %d.%d", n / 1000, n / 10 % 100);
#    else
    snprintf(text, size, "CUDA on the CPU, for tests");
#    endif
}
#endif

#ifdef FIRE_HAVE_CUDNN
static void tell_cudnn(char *text, size_t size)
{
    tell_numbers("cuDNN", CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL, text, size);
}
#endif

static const tell_t library[] = {
    tell_compiler, tell_protobuf, tell_lmdb, tell_blas,
#ifdef FIRE_HAVE_LEVELDB
    tell_leveldb,
#endif
#ifdef FIRE_HAVE_HDF5
    tell_hdf5,
#endif
#ifdef FIRE_HAVE_JPEG
    tell_jpeg,
#endif
#ifdef FIRE_HAVE_PNG
    tell_png,
#endif
#ifdef FIRE_HAVE_ZLIB
    tell_zlib,
#endif
#ifdef FIRE_HAVE_ONEDNN
    tell_onednn,
#endif
#ifdef FIRE_HAVE_CUDA
    tell_cuda,
#endif
#ifdef FIRE_HAVE_CUDNN
    tell_cudnn,
#endif
};

bool fire_library_at(int i, const char *mpi, char *text, size_t size)
{
    const int n = sizeof(library) / sizeof(library[0]);

    if (i >= 0 && i < n) library[i](text, size);
    if (i < 0 || i >= n + (mpi != NULL && mpi[0] != '\0')) return false;
    if (i == n) snprintf(text, size, "%s", mpi);
    return true;
}
