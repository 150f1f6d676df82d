/* lmdb_pages.c - LMDB's file format as far as reading all records needs it.
 *
 *     page 0, 1    headers; the one with the higher transaction counts
 *     branch page  16 bytes, then offsets of nodes: key and number of a page below
 *     leaf page    the same, nodes are key and value, or key and the number of the first
 *                  of several pages with the value, which begins after 16 bytes there
 *
 * All leaves are at the same depth. Numbers are as the processor has them. */
#include "data/source/lmdb_pages.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/source/source.h"

enum {
    HEADER     = 16, /* bytes before the contents of a page */
    NODE       = 8,  /* bytes before the key of a node */
    DEPTH      = 32, /* LMDB's own limit */
    LEAST_PAGE = 256,
    MOST_PAGE  = 65536,
    BRANCH     = 1,
    LEAF       = 2,
    KINDS      = 0x7f ^ 0x10, /* bits that tell what a page is; 0x10: written lately */
    ELSEWHERE  = 1,           /* of a node: its value is on pages of its own */
    SEVERAL    = 4,           /* of a node: several values, of the tree: it has such */
};

static const uint32_t MAGIC = 0xBEEFC0DE;

typedef struct header {
    uint32_t magic, version;
    uint64_t address, map_size;
    struct {
        uint32_t page_size;
        uint16_t flags, depth;
        uint64_t branches, leaves, overflows, entries, root;
    } tree[2]; /* of free pages, of records */
    uint64_t last_page, transaction;
} header_t;

/* What every page but an overflow page begins with. */
typedef struct page {
    uint64_t number;
    uint16_t pad, flags, lower, upper;
} page_t;

typedef struct node {
    uint16_t low, high, flags, key_size;
} node_t;

typedef struct walk {
    const char    *path;
    const uint8_t *file;
    size_t         size, page_size, pages; /* pages: in use, all within the file */
    header_t       header;
    size_t         visited; /* pages so far: more than there are is a circle */
    uint64_t       records;
    const uint8_t *key; /* of the last record; NULL: none yet */
    size_t         key_size;
} walk_t;

static fire_status_t fail(const walk_t *w, uint64_t page, const char *why)
{
    char key[FIRE_KEY_TEXT] = "";

    if (w->key != NULL) fire_key_text(w->key, w->key_size, key);
    return FIRE_FAIL(
        FIRE_ERR_PARSE,
        "LMDB \"%s\" is damaged: record %llu, %s%s%s, cannot be read: page "
        "%llu %s; copy it again or make it new",
        w->path, (unsigned long long)w->records,
        w->key != NULL ? "after key \"" : "the first", key, w->key != NULL ? "\"" : "",
        (unsigned long long)page, why);
}

/* ---- headers ---- */

static bool read_header(const walk_t *w, size_t at, header_t *h)
{
    if (at > w->size || w->size - at < HEADER + sizeof(*h)) return false;
    memcpy(h, w->file + at + HEADER, sizeof(*h));
    return h->magic == MAGIC && h->version == 1;
}

/* Take the newer header. false: LMDB will say what is wrong. */
static bool choose_header(walk_t *w)
{
    header_t first, second;

    if (!read_header(w, 0, &first)) return false;
    w->page_size = first.tree[0].page_size;
    if (w->page_size < LEAST_PAGE || w->page_size > MOST_PAGE ||
        (w->page_size & (w->page_size - 1)) != 0)
        w->page_size = 0;
    else if (!read_header(w, w->page_size, &second))
        return false;
    else
        w->header = first.transaction < second.transaction ? second : first;
    return true;
}

static fire_status_t check_header(walk_t *w)
{
    const header_t *h = &w->header;

    if (w->page_size == 0 || h->tree[0].page_size != w->page_size)
        return fail(w, 0, "has a wrong size of pages");
    if (h->last_page >= SIZE_MAX / w->page_size)
        return fail(w, 0, "counts too many pages");
    w->pages = (size_t)h->last_page + 1;
    if (w->size < w->pages * w->page_size)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "LMDB \"%s\" is cut short: %zu bytes of %zu; copy it again",
                         w->path, w->size, w->pages * w->page_size);
    if ((h->tree[1].flags & SEVERAL) != 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "LMDB \"%s\" has several values under one key", w->path);
    if (h->tree[1].depth > DEPTH) return fail(w, 0, "has a tree that is too deep");
    return FIRE_OK;
}

/* ---- pages ---- */

static fire_status_t check_page(walk_t *w, uint64_t number, int kind, page_t *page_p)
{
    if (number < 2 || number >= w->pages) return fail(w, number, "is not in the file");
    memcpy(page_p, w->file + number * w->page_size, sizeof(*page_p));
    if (++w->visited > w->pages) return fail(w, number, "is reached twice");
    if (page_p->number != number) return fail(w, number, "has another page's number");
    if ((page_p->flags & KINDS) != kind)
        return fail(w, number, kind == LEAF ? "is no leaf" : "is no branch");
    if (page_p->lower < HEADER || page_p->lower > page_p->upper ||
        page_p->upper > w->page_size || page_p->lower % 2 != 0)
        return fail(w, number, "has a wrong size");
    if (page_p->lower / 2 - HEADER / 2 < (kind == BRANCH ? 2 : 1))
        return fail(w, number, "has too few entries");
    return FIRE_OK;
}

/* The i-th node of a page: within the page, with its key. *at_p: of its value. */
static fire_status_t find_node(const walk_t *w, const page_t *page, int i,
                               node_t *node_p, size_t *at_p)
{
    size_t   begin = page->number * w->page_size;
    uint16_t at;

    memcpy(&at, w->file + begin + HEADER + 2 * (size_t)i, sizeof(at));
    if (at < page->lower || at % 2 != 0 || (size_t)at + NODE > w->page_size)
        return fail(w, page->number, "has an entry out of place");
    memcpy(node_p, w->file + begin + at, sizeof(*node_p));
    *at_p = begin + at + NODE + node_p->key_size;
    if ((size_t)at + NODE + node_p->key_size > w->page_size)
        return fail(w, page->number, "has a key that ends beyond it");
    return FIRE_OK;
}

static fire_status_t check_value(const walk_t *w, const page_t *page,
                                 const node_t *node, size_t at)
{
    size_t   end  = (page->number + 1) * w->page_size;
    size_t   size = node->low | (size_t)node->high << 16;
    uint64_t first;

    if ((node->flags & SEVERAL) != 0) return fail(w, page->number, "has a wrong entry");
    if ((node->flags & ELSEWHERE) == 0)
        return size <= end - at
                   ? FIRE_OK
                   : fail(w, page->number, "has a value that ends beyond it");
    if (end - at < sizeof(first)) return fail(w, page->number, "has a wrong entry");
    memcpy(&first, w->file + at, sizeof(first));
    if (first >= 2 && first < w->pages &&
        size <= (w->pages - first) * w->page_size - HEADER)
        return FIRE_OK;
    return fail(w, page->number, "has a value that is not in the file");
}

static fire_status_t check_leaf(walk_t *w, uint64_t number)
{
    page_t page;

    FIRE_TRY(check_page(w, number, LEAF, &page));
    for (int i = 0; i < (page.lower - HEADER) / 2; i++) {
        node_t node;
        size_t at;

        if (w->records == w->header.tree[1].entries)
            return fail(w, number, "has more records than the header counts");
        FIRE_TRY(find_node(w, &page, i, &node, &at));
        FIRE_TRY(check_value(w, &page, &node, at));
        w->key      = w->file + at - node.key_size;
        w->key_size = node.key_size;
        w->records++;
    }
    return FIRE_OK;
}

/* depth: of the tree at this page; 1: it is a leaf. */
static fire_status_t check_tree(walk_t *w, uint64_t number, int depth)
{
    page_t page;

    if (depth == 1) return check_leaf(w, number);
    FIRE_TRY(check_page(w, number, BRANCH, &page));
    for (int i = 0; i < (page.lower - HEADER) / 2; i++) {
        node_t node;
        size_t at;

        FIRE_TRY(find_node(w, &page, i, &node, &at));
        FIRE_TRY(check_tree(
            w, node.low | (uint64_t)node.high << 16 | (uint64_t)node.flags << 32,
            depth - 1));
    }
    return FIRE_OK;
}

static fire_status_t check_records(walk_t *w)
{
    if (!choose_header(w)) return FIRE_OK;
    FIRE_TRY(check_header(w));
    if (w->header.tree[1].root == UINT64_MAX && w->header.tree[1].entries == 0)
        return FIRE_OK;
    if (w->header.tree[1].depth == 0) return fail(w, 0, "has no tree");
    FIRE_TRY(check_tree(w, w->header.tree[1].root, w->header.tree[1].depth));
    if (w->records == w->header.tree[1].entries) return FIRE_OK;
    return fail(w, 0, "counts more records than there are");
}

fire_status_t fire_lmdb_check(const char *path)
{
    walk_t        w = {.path = path};
    char          file[PATH_MAX];
    struct stat   info;
    void         *map;
    int           fd;
    fire_status_t st = FIRE_OK;

    if (stat(path, &info) != 0) return FIRE_OK;
    snprintf(file, sizeof(file), "%s%s", path,
             S_ISDIR(info.st_mode) ? "/data.mdb" : "");
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0) goto out;
    w.size = (size_t)info.st_size;
    map    = mmap(NULL, w.size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) goto out; /* LMDB cannot map it either */
    w.file = map;
    st     = check_records(&w);
    munmap(map, w.size);
out:
    if (fd >= 0) close(fd);
    return st;
}
