/* cost_curve.c - simulates a few sizes, or uses formulas, and interpolates. */
#include "sim/cost_curve.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "comm/select/select.h"

enum { COLORS = 4, GRAIN = 16 };
enum { MANY = 50 }; /* workers from which on few and short sizes are simulated */
enum { FORMULA_FROM = 33 }; /* workers: a chain then has thousands of messages */

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

/* The request to the planner, except for the length of messages. */
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

/* Rank -> node; the caller frees it. */
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

static bool is(const fire_mode_t *mode, const char *name)
{
    return strcmp(mode->algo->name, name) == 0;
}

static bool has_formula(const fire_mode_t *mode, int workers)
{
    return workers >= FORMULA_FROM &&
           (is(mode, "ring") || is(mode, "direct") || is(mode, "ps"));
}

/* How much longer messages between any two nodes take because they share links: uplinks
 * are fewer than cards; in a torus each message passes a quarter of every dimension on
 * average, over two links per dimension and node. At least 1. */
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

/* The cost of one message of a chain. */
typedef struct message_cost {
    double chains;         /* that the buffer is cut into */
    double x;              /* bytes on the wire */
    double pass, cpu, add; /* seconds on the wire; of both cores; to add it */
} message_cost_t;

static message_cost_t cost_of(const fire_wire_t *w, const fire_mode_t *mode,
                              double bytes, double piece, double parts)
{
    message_cost_t t = {.chains = max2(ceil(bytes / (piece * parts)), 1)};

    t.x = bytes / t.chains / parts;
    if (mode->codec != NULL) t.x = (double)mode->codec->bound((size_t)(t.x / 4));
    t.pass = t.x / w->bandwidth;
    t.cpu  = 2 * w->overhead;
    t.add  = t.x / w->reduce;
    return t;
}

/* ring:    every worker sends workers-1 parts of x bytes twice, each after the one
 * before
 *          has arrived
 * direct:  the same messages, all at once, through a card that the workers of a node
 *          share; those that arrive together are handled one by one
 * ps:      the server receives and sends everything; it receives the next chain while
 * it
 *          sends the last one */
static fire_price_t by_formula(const fire_cluster_t *c, const fire_mode_t *mode,
                               int workers, double bytes, double piece)
{
    const fire_wire_t *w = c->net.bandwidth < c->node.bandwidth ? &c->net : &c->node;
    double             others = workers - 1;
    message_cost_t     t = cost_of(w, mode, bytes, piece, is(mode, "ps") ? 1 : workers);
    fire_price_t       p = {0, 2 * others * t.x * t.chains, 2 * others * t.chains};

    if (is(mode, "ps")) {
        double each = max2(t.pass, t.cpu + t.add);

        return (fire_price_t){others * (t.chains + 1) * each + 2 * w->latency,
                              p.bytes / 2, p.messages / 2};
    }
    if (is(mode, "ring")) { /* chains hide each other's latency */
        double hop = t.pass + w->latency + t.cpu;

        p.seconds =
            others * (max2(hop + t.add, t.chains * max2(t.pass, t.cpu + t.add)) +
                      max2(hop, t.chains * max2(t.pass, t.cpu)));
        return p;
    }
    if (c->per_node > 1)
        t.pass *= (double)c->per_node * (workers - c->per_node) / others;
    t.pass *= crowding(c);
    p.seconds = 2 * (t.chains * others * max2(t.pass, t.cpu) + w->latency) +
                others * (t.chains * t.add + w->overhead);
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

/* Bytes of the shortest messages: those of a small buffer. */
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

/* Messages that fill the pipeline, roughly; all colors fill it together. */
static int depth_of(const fire_mode_t *mode, int workers)
{
    if (mode->algo->flags & FIRE_ALGO_COLORS) return 4;
    return mode->algo->fan != NULL ? 2 * mode->algo->fan(workers) : 8;
}

/* The sizes to simulate, in numbers of shortest messages per part and color. Small
 * sizes for many workers, where a simulation takes long. */
static void choose_points(const fire_mode_t *mode, int workers,
                          double point[FIRE_COST_CURVE_POINTS])
{
    static const double piped[FIRE_COST_CURVE_POINTS] = {1 / 16.0, 1, 2, 16, 64};
    static const double whole[FIRE_COST_CURVE_POINTS] = {1 / 16.0, 1 / 4.0, 1, 2, 3};
    bool                is_whole                      = mode->algo->parts != NULL;

    memcpy(point, is_whole ? whole : piped, sizeof(piped));
    if (is_whole || workers <= MANY) return;
    point[FIRE_COST_CURVE_POINTS - 2] = depth_of(mode, workers);
    point[FIRE_COST_CURVE_POINTS - 1] = 2 * depth_of(mode, workers);
}

fire_status_t fire_cost_curve_make(const fire_cluster_t *cluster,
                                   const fire_mode_t *mode, int workers,
                                   fire_cost_curve_t *curve_p)
{
    fire_cost_curve_t t = {.card =
                               max2(cluster->net.bandwidth, cluster->node.bandwidth)};
    double            least, point[FIRE_COST_CURVE_POINTS];

    FIRE_TRY(least_piece(cluster, mode, workers, &least));
    choose_points(mode, workers, point);
    for (int i = 0; i < FIRE_COST_CURVE_POINTS; i++) {
        t.bytes[i] = least * parts_of(mode, workers) * colors_of(mode) * point[i];
        if (workers > 1)
            FIRE_TRY(price_at(cluster, mode, workers, t.bytes[i], least, &t.price[i]));
    }
    *curve_p = t;
    return FIRE_OK;
}

/* A straight line through a (share 0) and b (share 1), never below 0. */
static double on_line(double a, double b, double share)
{
    return max2(a + (b - a) * share, 0);
}

fire_price_t fire_cost_curve_price(const fire_cost_curve_t *t, double bytes)
{
    const fire_price_t *a, *b;
    fire_price_t        p;
    double              share;
    int                 i = 1;

    while (i < FIRE_COST_CURVE_POINTS - 1 && bytes > t->bytes[i])
        i++;
    share = (bytes - t->bytes[i - 1]) / (t->bytes[i] - t->bytes[i - 1]);
    a     = &t->price[i - 1];
    b     = &t->price[i];
    p     = (fire_price_t){on_line(a->seconds, b->seconds, share),
                           on_line(a->bytes, b->bytes, share),
                           on_line(a->messages, b->messages, share)};
    if (share > 1) /* the last points may be from a pipeline that was not full yet */
        p.seconds = max2(p.seconds, b->seconds + (p.bytes - b->bytes) / t->card);
    return p;
}
