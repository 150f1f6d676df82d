/* select.c - which algorithm, and how long its messages are (select.h). */
#include "comm/select/select.h"

#include <float.h>
#include <string.h>

#include "comm/algo/cost.h"

/* Rough figures of today's machines: seconds per message, seconds per byte (10 GB/s
 * inside a node, 1.2 GB/s between nodes, 20 GB/s to add). A tuning table replaces
 * them. */
static const fire_machine_t typical = {
    .node = {.alpha = 2e-6, .beta = 1 / 10e9, .gamma = 1 / 20e9},
    .net  = {.alpha = 20e-6, .beta = 1 / 1.2e9, .gamma = 1 / 20e9},
};

/* Longest message, in bytes, where `fan` ranks send to one: two messages of each must
 * fit into the buffer of a switch port, or packets are lost and sent again after a
 * timeout. */
static size_t fitting_piece(int fan)
{
    size_t port = 192 << 10, least = 16 << 10, piece = port / 2 / (size_t)fan;

    return piece < least ? least : piece;
}

size_t fire_piece_of(const fire_algo_t *algo, const fire_coll_t *d)
{
    bool   inside = fire_coll_on_one_node(d);
    size_t scale = inside ? 4 : 1, bytes = d->span.len * sizeof(float);
    size_t parts = algo->parts != NULL ? (size_t)algo->parts(d->size) : 1;
    size_t piece = bytes / (size_t)algo->chains / parts * scale;
    size_t least = (64 << 10) * scale, most = (1 << 20) * scale;

    piece = piece < least ? least : piece > most ? most : piece;
    if (inside || algo->fan == NULL || d->size < 2) return piece;
    most = fitting_piece(algo->fan(d->size));
    return piece > most ? most : piece;
}

/* In elements; `bytes` as asked for, or 0. */
static size_t piece_for(const fire_algo_t *algo, const fire_coll_t *d, size_t bytes)
{
    return ((bytes > 0 ? bytes : fire_piece_of(algo, d)) + sizeof(float) - 1) /
           sizeof(float);
}

/* Can the algorithm do what is asked? */
static bool fits(const fire_comm_t *c, const fire_collective_options_t *o,
                 const fire_codec_t *codec, const fire_coll_t *d,
                 const fire_algo_t *algo)
{
    if (!(algo->ops & 1u << d->op)) return false;
    if (algo->flags & FIRE_ALGO_NATIVE && (c->tp->ops->allreduce == NULL || codec))
        return false;
    if (codec != NULL && codec->one_hop && !(algo->flags & FIRE_ALGO_ONE_HOP))
        return false;
    return !o->canonical || fire_algo_is_canonical(algo, d);
}

static bool choose_by_table(const fire_comm_t *c, const fire_collective_options_t *o,
                            const fire_codec_t *codec, fire_coll_t *d,
                            const fire_algo_t **algo_p)
{
    fire_choice_t choice;
    size_t        bytes = d->span.len * sizeof(float);

    if (c->tuning == NULL || d->op != FIRE_ALLREDUCE) return false;
    for (int i = 0; fire_tuning_at(c->tuning, d->size, bytes, i, &choice); i++) {
        if (!fits(c, o, codec, d, choice.algo)) continue;
        if (choice.colors > 0 && o->colors == 0) d->ncolor = choice.colors;
        d->piece = piece_for(choice.algo, d, o->piece > 0 ? o->piece : choice.piece);
        *algo_p  = choice.algo;
        return true;
    }
    return false;
}

static bool choose_by_cost(const fire_comm_t *c, const fire_collective_options_t *o,
                           const fire_codec_t *codec, fire_coll_t *d,
                           const fire_algo_t **algo_p)
{
    double best = DBL_MAX;

    for (int i = 0; fire_algo_at(i) != NULL; i++) {
        const fire_algo_t *algo = fire_algo_at(i);
        double             cost;

        if (!fits(c, o, codec, d, algo)) continue;
        d->piece = piece_for(algo, d, o->piece);
        cost     = algo->cost(d, &typical);
        if (cost >= best) continue;
        best    = cost;
        *algo_p = algo;
    }
    if (best == DBL_MAX) return false;
    d->piece = piece_for(*algo_p, d, o->piece);
    return true;
}

fire_status_t fire_select(const fire_comm_t *c, const fire_collective_options_t *o,
                          const fire_codec_t *codec, fire_coll_t *d,
                          const fire_algo_t **algo_p)
{
    if (strcmp(o->algo, "auto") == 0) {
        if (choose_by_table(c, o, codec, d, algo_p)) return FIRE_OK;
        if (choose_by_cost(c, o, codec, d, algo_p)) return FIRE_OK;
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "no algorithm for operation %d",
                         (int)d->op);
    }
    FIRE_TRY(fire_algo_find(o->algo, algo_p));
    d->piece = piece_for(*algo_p, d, o->piece);
    if (o->canonical && !fire_algo_is_canonical(*algo_p, d))
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "algorithm %s does not sum in canonical order%s; use tree, "
                         "rhd or direct",
                         o->algo,
                         (*algo_p)->flags & FIRE_ALGO_BY_NODE ? " on these nodes" : "");
    return FIRE_OK;
}
