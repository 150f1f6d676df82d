/* check.h - what is in a data set: classes, sizes, means, broken records, duplicates, and
 * pictures to look at. For databases, lists of images, lists of HDF5 files. */
#ifndef FIRE_DATA_CHECK_CHECK_H
#define FIRE_DATA_CHECK_CHECK_H
#include "base/text/text.h"
#include "data/check/items.h"

enum { FIRE_CHECK_KEEP = 100 }; /* faults, twins and classes that are told one by one */

typedef struct fire_check_options {
    fire_items_options_t items;
    int64_t              limit;    /* records to look at; 0: all */
    int                  pictures; /* to keep of each class */
    /* Called now and then; a failure ends the check. NULL: not */
    fire_status_t (*progress)(void *arg, int64_t done, int64_t total);
    void *arg;
} fire_check_options_t;

typedef struct fire_check_class {
    double     label;
    int64_t    count;
    int        npicture;
    fire_str_t pictures; /* HTML images, each with its key */
} fire_check_class_t;

typedef struct fire_check_fault {
    char key[FIRE_KEY_TEXT], message[256];
} fire_check_fault_t;

/* A record with the same pixels as an earlier one. */
typedef struct fire_check_twin {
    char   first[FIRE_KEY_TEXT], second[FIRE_KEY_TEXT];
    double label[2];
} fire_check_twin_t;

typedef struct fire_check {
    const char *kind;                                   /* "LMDB", "image list", ... */
    int64_t     records, broken, twins, contradictions; /* twins with other labels */
    int64_t     vectors; /* records whose label is not one number */

    fire_check_class_t *klass; /* by label */
    int64_t             nclass, class_cap;
    fire_check_fault_t  fault[FIRE_CHECK_KEEP]; /* the first ones */
    fire_check_twin_t   twin[FIRE_CHECK_KEEP];
    int                 nfault, ntwin;

    fire_extent_t least, most;           /* sizes of images */
    int           channels;              /* of the first image */
    double        mean[4], deviation[4]; /* of its channels, four at most */
} fire_check_t;

/* Look at the data at `path`. End *check_p with fire_check_fini(). Broken records are
 * counted, not an error. */
fire_status_t fire_check_run(const char *path, const fire_check_options_t *options,
                             fire_check_t *check_p);
void          fire_check_fini(fire_check_t *c);

/* The result as text, and as a page with pictures that needs nothing else. */
fire_status_t fire_check_print(const fire_check_t *c, fire_str_t *text);
fire_status_t fire_check_page(const fire_check_t *c, const char *title,
                              fire_str_t *page);
#endif
