/* zip.h - zip archives, as numpy's .npz files are: entries stored or deflated, of any
 * size (zip64). */
#ifndef FIRE_MODEL_TENSORS_ZIP_H
#define FIRE_MODEL_TENSORS_ZIP_H
#include "base/file.h"
#include "base/text/text.h"

/* ---- reading, from n bytes in memory ---- */

typedef struct fire_zip {
    const char    *file; /* for messages */
    const uint8_t *bytes;
    size_t         n;
    size_t         at, end; /* what is left of the directory */
} fire_zip_t;

typedef struct fire_zip_entry {
    const char *name; /* [length], not ended by a zero */
    size_t      length;
    int         method; /* 0: stored, 8: deflated */
    bool        secret; /* encrypted */
    uint32_t    crc;
    uint64_t    packed, size, offset; /* bytes in the file and as they are; where */
} fire_zip_entry_t;

fire_status_t fire_zip_open(const void *bytes, size_t n, const char *file,
                            fire_zip_t *zip_p);
/* The next entry; *more_p is false at the end. */
fire_status_t fire_zip_next(fire_zip_t *zip, fire_zip_entry_t *e, bool *more_p);
/* The e->size bytes of an entry, checked. They are in the file, or in memory at *own_p,
 * which the caller frees; it is NULL otherwise. */
fire_status_t fire_zip_read(const fire_zip_t *zip, const fire_zip_entry_t *e,
                            const void **bytes_p, void **own_p);

/* ---- writing ---- */

typedef struct fire_zip_writer {
    fire_file_writer_t *w; /* the caller opens and commits it */
    uint64_t            at, n;
    fire_str_t          directory;
} fire_zip_writer_t;

/* Append an entry, stored: `head`, then n bytes. end() writes the directory. */
fire_status_t fire_zip_add(fire_zip_writer_t *z, const char *name,
                           const fire_str_t *head, const void *bytes, size_t n);
fire_status_t fire_zip_end(fire_zip_writer_t *z);
void          fire_zip_fini(fire_zip_writer_t *z);
#endif
