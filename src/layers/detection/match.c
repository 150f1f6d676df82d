/* match.c - greedy bipartite matching by overlap, then per-prediction matching, as SSD
 * does. */
#include "layers/detection/match.h"

/* Smaller overlaps count as none. */
static const float NEGLIGIBLE = 1e-6f;

/* Does a box extend beyond the image? */
static bool leaves_image(fire_bbox_t b)
{
    return b.xmin < 0.0f || b.ymin < 0.0f || b.xmax > 1.0f || b.ymax > 1.0f;
}

/* table[i][g]: overlap of box i with object g; matched[g]: 1 if object g has its
 * box. */
typedef struct pairs {
    int64_t nbox, nobject;
    float  *table, *matched;
} pairs_t;

/* Match the free box and the free object that overlap most; false if none do. */
static bool match_best_pair(const pairs_t *p, int32_t *index, float *overlap)
{
    float   best = NEGLIGIBLE;
    int64_t box = -1, object = -1;

    for (int64_t i = 0; i < p->nbox; i++)
        for (int64_t g = 0; g < p->nobject && index[i] == FIRE_MATCH_NONE; g++)
            if (p->matched[g] == 0.0f && p->table[i * p->nobject + g] > best) {
                best   = p->table[i * p->nobject + g];
                box    = i;
                object = g;
            }
    if (box < 0) return false;
    index[box]         = (int32_t)object;
    overlap[box]       = best;
    p->matched[object] = 1.0f;
    return true;
}

/* Match each free box to the object that it overlaps most, by `least` or more. */
static void match_rest(const pairs_t *p, float least, int32_t *index, float *overlap)
{
    for (int64_t i = 0; i < p->nbox; i++) {
        float best = NEGLIGIBLE;

        if (index[i] != FIRE_MATCH_NONE) continue;
        for (int64_t g = 0; g < p->nobject; g++) {
            float o = p->table[i * p->nobject + g];

            if (o < least || o <= best) continue;
            best       = o;
            index[i]   = (int32_t)g;
            overlap[i] = o;
        }
    }
}

fire_status_t fire_match(const fire_match_rule_t *rule, const fire_object_t *object,
                         int64_t nobject, const fire_bbox_t *box, int64_t nbox,
                         fire_scratch_t *work, int32_t *index, float *overlap)
{
    pairs_t p = {.nbox = nbox, .nobject = nobject};

    FIRE_TRY(fire_scratch_fit(work, nobject * (nbox + 1)));
    p.table   = work->x;
    p.matched = work->x + nobject * nbox;
    fire_fill(nobject, 0.0f, p.matched);
    for (int64_t i = 0; i < nbox; i++) {
        bool ignored = rule->inside_only && leaves_image(box[i]);

        index[i]   = ignored ? FIRE_MATCH_IGNORED : FIRE_MATCH_NONE;
        overlap[i] = 0.0f;
        for (int64_t g = 0; g < nobject; g++) {
            float o = ignored ? 0.0f : fire_bbox_overlap(box[i], object[g].box);

            p.table[i * nobject + g] = o;
            if (o > NEGLIGIBLE && o > overlap[i]) overlap[i] = o;
        }
    }
    for (int64_t g = 0; g < nobject; g++)
        if (!match_best_pair(&p, index, overlap)) break;
    if (!rule->one_each) match_rest(&p, rule->least, index, overlap);
    return FIRE_OK;
}
