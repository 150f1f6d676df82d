#include "sim/tariff.h"

#include <string.h>

#include "base/alloc.h"
#include "comm/select.h"

enum { COLORS = 4, GRAIN = 16 };
enum { MANY = 100 };        /* workers: short pipelines have to do */
enum { FORMULA_FROM = 33 }; /* workers: a ring then has thousands of messages a lane */

static double max2(double a, double b)
{
    return a > b ? a : b;
}

static int colors_of(const fire_mode_t *m)
{
    if (!(m->algo->flags & FIRE_ALGO_COLORS)) return 1;
    return m->colors > 0 ? m->colors : COLORS;
}

static int parts_of(const fire_mode_t *m, int workers)
{
    return m->algo->parts != NULL ? m->algo->parts(workers) : 1;
}

/* Everything but the length of messages; c->node is the caller's. */
static fire_coll_t describe(const fire_cluster_t *cluster, const fire_mode_t *m,
                            int workers, double bytes, const int *node)
{
    return (fire_coll_t){.op     = FIRE_ALLREDUCE,
                         .size   = workers,
                         .node   = node,
                         .lend   = cluster->shared && m->codec == NULL,
                         .ncolor = colors_of(m),
                         .grain  = m->codec != NULL ? m->codec->grain : GRAIN,
                         .span   = {0, (size_t)(bytes / sizeof(float))}};
}

static size_t piece_of(const fire_mode_t *m, const fire_coll_t *c)
{
    return m->piece > 0 ? m->piece : fire_piece_of(m->algo, c);
}

static fire_status_t seat(const fire_cluster_t *cluster, int workers, int **node_p)
{
    FIRE_TRY(FIRE_NEW(node_p, workers));
    for (int r = 0; r < workers; r++)
        (*node_p)[r] = r / cluster->per_node;
    return FIRE_OK;
}

fire_status_t fire_mode_simulate(const fire_cluster_t *cluster, const fire_mode_t *mode,
                                 int workers, double bytes, fire_price_t *price_p)
{
    fire_coll_t   c;
    int          *node;
    fire_status_t st;

    FIRE_TRY(seat(cluster, workers, &node));
    c       = describe(cluster, mode, workers, bytes, node);
    c.piece = piece_of(mode, &c) / sizeof(float);
    st      = fire_simulate(cluster, mode->algo, &c, mode->codec, price_p);
    fire_free(node);
    return st;
}

static bool has_formula(const fire_mode_t *mode, int workers)
{
    return workers >= FORMULA_FROM && (strcmp(mode->algo->name, "ring") == 0 ||
                                       strcmp(mode->algo->name, "direct") == 0);
}

/* How much longer messages between any two nodes take because they meet on the way:
 * uplinks are fewer than cards; in a torus each message passes a quarter of every
 * dimension, on one of two links a dimension and node. */
static double crowding(const fire_cluster_t *c)
{
    double hops = 0, links = 0;

    if (c->topology == FIRE_FAT_TREE) return c->oversubscription;
    if (c->topology == FIRE_STAR) return 1;
    for (int d = 0; d < FIRE_TORUS_DIMS; d++) {
        hops += c->dims[d] / 4.0;
        links += c->dims[d] > 1 ? 2 : 0;
    }
    return links > 0 ? max2(hops / links, 1) : 1;
}

/* Every worker sends workers-1 parts of x bytes twice: around the ring, each after
 * the one before has arrived; or all at once, through a card that its node shares. */
static fire_price_t by_formula(const fire_cluster_t *c, const fire_mode_t *mode,
                               int workers, double bytes, double piece)
{
    const fire_wire_t *w = c->net.bandwidth < c->node.bandwidth ? &c->net : &c->node;
    double             lanes = 1, others = workers - 1, x, pass, cpu, add;
    fire_price_t       p;

    while (lanes * piece * workers < bytes)
        lanes++;
    x = bytes / lanes / workers;
    if (mode->codec != NULL) x = (double)mode->codec->bound((size_t)(x / 4));
    p    = (fire_price_t){0, 2 * others * x * lanes, 2 * others * lanes};
    pass = x / w->bandwidth;
    cpu  = 2 * w->overhead;
    add  = x / w->reduce;
    if (strcmp(mode->algo->name, "ring") == 0) { /* lanes hide each other's latency */
        double hop = pass + w->latency + cpu;

        p.seconds = others * (max2(hop + add, lanes * max2(pass, cpu + add)) +
                              max2(hop, lanes * max2(pass, cpu)));
        return p;
    }
    if (c->per_node > 1) pass *= (double)c->per_node * (workers - c->per_node) / others;
    pass *= crowding(c);
    p.seconds =
        2 * (lanes * others * max2(pass, cpu) + w->latency) + lanes * others * add;
    return p;
}

static fire_status_t price_at(const fire_cluster_t *cluster, const fire_mode_t *mode,
                              int workers, double bytes, double least,
                              fire_price_t *price_p)
{
    if (!has_formula(mode, workers))
        return fire_mode_simulate(cluster, mode, workers, bytes, price_p);
    *price_p = by_formula(cluster, mode, workers, bytes, least);
    return FIRE_OK;
}

/* How long its shortest pieces are. */
static fire_status_t least_piece(const fire_cluster_t *cluster, const fire_mode_t *mode,
                                 int workers, double *bytes_p)
{
    int        *node;
    fire_coll_t c;

    FIRE_TRY(seat(cluster, workers, &node));
    c        = describe(cluster, mode, workers, 0, node);
    *bytes_p = (double)piece_of(mode, &c);
    fire_free(node);
    return FIRE_OK;
}

fire_status_t fire_tariff_make(const fire_cluster_t *cluster, const fire_mode_t *mode,
                               int workers, fire_tariff_t *tariff_p)
{
    static const double piped[FIRE_TARIFF_POINTS] = {1 / 16.0, 1, 16, 64};
    static const double large[FIRE_TARIFF_POINTS] = {1 / 16.0, 1, 6, 16};
    static const double whole[FIRE_TARIFF_POINTS] = {1 / 16.0, 1, 2, 3};
    const double       *points                    = workers > MANY ? large : piped;
    fire_tariff_t       t                         = {0};
    double              least;

    FIRE_TRY(least_piece(cluster, mode, workers, &least));
    if (mode->algo->parts != NULL) points = whole;
    for (int i = 0; i < FIRE_TARIFF_POINTS; i++) {
        t.bytes[i] = least * parts_of(mode, workers) * colors_of(mode) * points[i];
        if (workers > 1)
            FIRE_TRY(price_at(cluster, mode, workers, t.bytes[i], least, &t.price[i]));
    }
    *tariff_p = t;
    return FIRE_OK;
}

static double on_line(double a, double b, double share)
{
    return max2(a + (b - a) * share, 0);
}

fire_price_t fire_tariff_price(const fire_tariff_t *t, double bytes)
{
    const fire_price_t *a, *b;
    double              share;
    int                 i = 1;

    while (i < FIRE_TARIFF_POINTS - 1 && bytes > t->bytes[i])
        i++;
    share = (bytes - t->bytes[i - 1]) / (t->bytes[i] - t->bytes[i - 1]);
    a     = &t->price[i - 1];
    b     = &t->price[i];
    return (fire_price_t){on_line(a->seconds, b->seconds, share),
                          on_line(a->bytes, b->bytes, share),
                          on_line(a->messages, b->messages, share)};
}
