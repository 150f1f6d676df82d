/* test_algo.c - the schedules of every algorithm, proved without moving a byte
 * (proof.h). Tests src/comm/algo/, src/comm/sched.c. */
#include "proof.h"
#include "test.h"

#include "comm/pattern/heap.h"

static const size_t counts[] = {0, 1, 7, 1000, 1000003};

static fire_coll_t coll(fire_coll_op_t op, int size, size_t count)
{
    return (fire_coll_t){.op     = op,
                         .size   = size,
                         .ncolor = 1,
                         .grain  = 1,
                         .piece  = count / 3,
                         .span   = {0, count}};
}

static void must_hold(const fire_algo_t *algo, const fire_coll_t *c)
{
    fire_sched_t sched[PROOF_RANKS];
    const char  *why;

    plan_all(algo, c, sched);
    why = prove(sched, c, fire_algo_is_canonical(algo, c));
    unplan_all(c->size, sched);
    if (why != NULL)
        test_fail(__FILE__, __LINE__,
                  "%s op %d: %d ranks, %d lanes, %zu elements, %d colors, piece %zu: "
                  "%s",
                  algo->name, (int)c->op, c->size,
                  c->lane != NULL ? c->lane[c->size] : c->size, c->span.len, c->ncolor,
                  c->piece, why);
}

TEST(every_algorithm_adds_each_rank_exactly_once)
{
    for (int a = 0; fire_algo_at(a) != NULL; a++)
        for (int op = FIRE_ALLREDUCE; op <= FIRE_ALLGATHER; op++)
            for (int size = 1; size <= 33; size++)
                for (int k = 0; k < 5; k++) {
                    const fire_algo_t *algo = fire_algo_at(a);
                    fire_coll_t        c    = coll(op, size, counts[k]);
                    int                one_node[PROOF_RANKS] = {0};

                    if (!(algo->ops >> op & 1) || algo->flags & FIRE_ALGO_NATIVE)
                        continue;
                    must_hold(algo, &c);
                    c.grain = 16;
                    c.node  = one_node;
                    c.lend  = true;
                    must_hold(algo, &c);
                }
}

static void share(int lanes, int size, const int *weight, int *lane)
{
    int total = 0, seen = 0;

    for (int r = 0; r < size; r++)
        total += weight[r];
    lane[0] = 0;
    for (int r = 0; r < size; r++) {
        int least = lane[r] + 1, most = lanes - (size - 1 - r);

        seen += weight[r];
        lane[r + 1] = lanes * seen / total;
        if (lane[r + 1] < least) lane[r + 1] = least;
        if (lane[r + 1] > most) lane[r + 1] = most;
    }
}

/* One node; two ranks per node; nodes of different size. */
static void must_hold_everywhere(const fire_algo_t *algo, const int *lane, int size,
                                 fire_coll_op_t op)
{
    for (int variant = 0; variant < 8; variant++) {
        fire_coll_t c = coll(op, size, 100);
        int         node[PROOF_RANKS];

        for (int r = 0; r < size; r++)
            node[r] = variant & 1 ? r / 2 : variant & 4 ? (r + 1) / 3 : 0;
        c.lane  = lane;
        c.node  = node;
        c.lend  = variant & 2;
        c.grain = variant & 2 ? 16 : 1;
        c.piece = variant & 4 ? 40 : 0;
        CHECK(fire_algo_is_canonical(algo, &c));
        must_hold(algo, &c);
    }
}

TEST(canonical_algorithms_add_lanes_that_ranks_share_in_any_way)
{
    static const int weights[][8] = {{1, 1, 1, 1, 1, 1, 1, 1},
                                     {1, 2, 3, 4, 5, 6, 7, 8},
                                     {9, 1, 1, 7, 1, 3, 1, 1},
                                     {1, 1, 1, 1, 1, 1, 1, 30}};
    int              lane[PROOF_RANKS + 1];

    for (int a = 0; fire_algo_at(a) != NULL; a++)
        for (int op = FIRE_ALLREDUCE; op <= FIRE_ALLGATHER; op++)
            for (int lanes = 1; lanes <= 33; lanes += lanes < 16 ? 1 : 5)
                for (int size = 1; size <= 8 && size <= lanes; size++)
                    for (int k = 0; k < 4; k++) {
                        const fire_algo_t *algo = fire_algo_at(a);

                        if (!(algo->ops >> op & 1) || op == FIRE_REDUCE ||
                            op == FIRE_BROADCAST ||
                            !(algo->flags & FIRE_ALGO_CANONICAL))
                            continue;
                        share(lanes, size, weights[k], lane);
                        must_hold_everywhere(algo, lane, size, (fire_coll_op_t)op);
                    }
}

TEST(any_number_of_colors_works_on_any_number_of_ranks)
{
    const fire_algo_t *algo;

    CHECK_OK(fire_algo_find("multicolor", &algo));
    for (int size = 1; size <= 33; size++)
        for (int ncolor = 1; ncolor <= 16; ncolor++) {
            fire_coll_t c = coll(FIRE_ALLREDUCE, size, 1000);

            c.ncolor = ncolor;
            c.piece  = 100;
            must_hold(algo, &c);
        }
}

TEST(no_rank_sums_for_two_colors)
{
    for (int size = 2; size <= 256; size++)
        for (int ncolor = 1; ncolor <= 16 && ncolor <= size; ncolor++)
            for (int rank = 0; rank < size; rank++) {
                int colors = 0;

                for (int color = 0; color < ncolor; color++) {
                    fire_heap_t h = fire_heap(rank, size, color, ncolor);

                    colors += fire_heap_children(&h) > 0;
                }
                CHECK(colors <= 1);
            }
}

TEST(long_pipelines_do_not_block_themselves)
{
    static const int sizes[] = {2, 3, 5, 8, 13};

    for (int a = 0; fire_algo_at(a) != NULL; a++)
        for (int k = 0; k < 5; k++) {
            fire_coll_t c = coll(FIRE_ALLREDUCE, sizes[k], 1000);

            c.piece  = 8; /* dozens of chains */
            c.ncolor = 3;
            if (!(fire_algo_at(a)->flags & FIRE_ALGO_NATIVE))
                must_hold(fire_algo_at(a), &c);
        }
}

TEST(where_the_colors_divide_the_ranks_trees_have_as_many_branches)
{
    for (int ncolor = 1; ncolor <= 16; ncolor++)
        for (int size = 2 * ncolor; size <= 128; size += ncolor)
            CHECK_EQ(fire_heap(0, size, 0, ncolor).arity, ncolor);
}

/* Ranks in blocks, or dealt out in turns. */
static void make_nodes(int size, int per_node, bool in_turns, int *node)
{
    int nodes = (size + per_node - 1) / per_node;

    for (int r = 0; r < size; r++)
        node[r] = in_turns ? r % nodes : r / per_node;
}

TEST(hierarchies_hold_on_any_nodes)
{
    static const char *const names[] = {"hier", "onesided"};
    int                      node[PROOF_RANKS];
    const fire_algo_t       *algo, *ring;

    CHECK_OK(fire_algo_find("ring", &ring));
    for (int a = 0; a < 2; a++)
        for (int size = 1; size <= 33; size++)
            for (int per_node = 1; per_node <= 9; per_node++)
                for (int variant = 0; variant < 8; variant++) {
                    fire_coll_t c = coll(FIRE_ALLREDUCE, size, 1000);

                    make_nodes(size, per_node, variant & 1, node);
                    c.node  = node;
                    c.lend  = variant & 2;
                    c.outer = variant & 4 ? ring : NULL;
                    c.piece = 200;
                    CHECK_OK(fire_algo_find(names[a], &algo));
                    must_hold(algo, &c);
                }
}

TEST(ranks_of_one_node_that_share_memory_copy_no_sums)
{
    const fire_algo_t *hier;
    int                node[PROOF_RANKS] = {0};
    fire_sched_t       sched[PROOF_RANKS];
    fire_coll_t        c = coll(FIRE_ALLREDUCE, 4, 1000);

    c.node = node;
    c.lend = true;
    CHECK_OK(fire_algo_find("hier", &hier));
    plan_all(hier, &c, sched);
    for (int r = 0; r < c.size; r++)
        for (int64_t i = 0; i < sched[r].n; i++)
            CHECK(sched[r].step[i].kind != FIRE_RECV);
    unplan_all(c.size, sched);
}

TEST(hierarchies_are_canonical_on_aligned_nodes_only)
{
    const fire_algo_t *hier;
    int                node[PROOF_RANKS];
    fire_coll_t        c = coll(FIRE_ALLREDUCE, 12, 1);

    CHECK_OK(fire_algo_find("hier", &hier));
    c.node = node;
    make_nodes(12, 4, false, node);
    CHECK(fire_algo_is_canonical(hier, &c));
    make_nodes(12, 4, true, node);
    CHECK(!fire_algo_is_canonical(hier, &c));
    make_nodes(12, 3, false, node);
    CHECK(!fire_algo_is_canonical(hier, &c));
    make_nodes(12, 8, false, node); /* the last node is not full */
    CHECK(fire_algo_is_canonical(hier, &c));
    make_nodes(12, 12, false, node);
    CHECK(fire_algo_is_canonical(hier, &c));
}

TEST(an_unknown_algorithm_is_answered_with_the_known_ones)
{
    const fire_algo_t *algo;

    CHECK_FAILS(fire_algo_find("magic", &algo), FIRE_ERR_INVALID, "multicolor ring");
}

TEST(an_algorithm_says_what_it_cannot_do)
{
    const fire_algo_t *ps;
    fire_sched_t       s = {0};
    fire_coll_t        c = coll(FIRE_ALLGATHER, 4, 8);

    CHECK_OK(fire_algo_find("ps", &ps));
    CHECK_FAILS(fire_sched_plan(&s, ps, &c), FIRE_ERR_UNSUPPORTED, "ps cannot");
}

static int chains_begun(const char *name, const int *node)
{
    const fire_algo_t *algo;
    fire_sched_t       s = {0};
    fire_coll_t        c = coll(FIRE_ALLREDUCE, 8, 60);
    int                chains;

    CHECK_OK(fire_algo_find(name, &algo));
    c.node = node;
    CHECK_OK(fire_sched_plan(&s, algo, &c));
    chains = s.per_block;
    fire_sched_fini(&s);
    return chains;
}

TEST(fewer_chains_are_begun_where_several_hosts_send_to_one)
{
    const int one_node[8] = {0};

    CHECK_EQ(chains_begun("ring", NULL), 12);
    CHECK_EQ(chains_begun("tree", NULL), 8);
    CHECK_EQ(chains_begun("ps", NULL), 2);
    CHECK_EQ(chains_begun("tree", one_node), 12);
}

/* ---- the prover itself: what it must find ---- */

static const char *proof_with(const char *name, void (*spoil)(fire_sched_t *))
{
    static char        why[256];
    const fire_algo_t *algo;
    fire_coll_t        c = coll(FIRE_ALLREDUCE, 6, 60);
    fire_sched_t       sched[PROOF_RANKS];
    const char        *found;

    CHECK_OK(fire_algo_find(name, &algo));
    c.piece = 0;
    plan_all(algo, &c, sched);
    spoil(sched);
    found = prove(sched, &c, false);
    snprintf(why, sizeof(why), "%s", found != NULL ? found : "nothing found");
    unplan_all(6, sched);
    return why;
}

/* Ranks 0 and 1 share lanes 0 to 6 of 7 unevenly. */
static const char *forest_proof_with(void (*spoil)(fire_sched_t *))
{
    static char        why[256];
    static const int   lane[] = {0, 3, 7};
    const fire_algo_t *rhd;
    fire_coll_t        c = coll(FIRE_ALLREDUCE, 2, 60);
    fire_sched_t       sched[PROOF_RANKS];
    const char        *found;

    CHECK_OK(fire_algo_find("rhd", &rhd));
    c.lane  = lane;
    c.piece = 0;
    plan_all(rhd, &c, sched);
    spoil(sched);
    found = prove(sched, &c, true);
    snprintf(why, sizeof(why), "%s", found != NULL ? found : "nothing found");
    unplan_all(2, sched);
    return why;
}

static void leave_as_it_is(fire_sched_t *s)
{
    (void)s;
}

static void forget_a_merge(fire_sched_t *s)
{
    for (int r = 0; r < 2; r++)
        for (int64_t i = 0; i < s[r].n; i++)
            if (s[r].step[i].kind == FIRE_MERGE) s[r].step[i].kind = FIRE_FINAL;
}

static void take_the_wrong_array(fire_sched_t *s)
{
    for (int64_t i = 0; i < s[1].n; i++)
        if (s[1].step[i].kind == FIRE_SEND && s[1].step[i].slot > 0)
            s[1].step[i].slot = 0;
}

static void forget_the_sum(fire_sched_t *s)
{
    s[0].step[0].kind = FIRE_RECV; /* overwrites instead of adding */
}

static void add_on_the_way_down(fire_sched_t *s)
{
    for (int64_t i = 0; i < s[3].n; i++)
        if (s[3].step[i].kind == FIRE_RECV) s[3].step[i].kind = FIRE_RECV_ADD;
}

static void leave_out_the_last_step(fire_sched_t *s)
{
    s[2].n--;
}

static void move_a_span(fire_sched_t *s)
{
    s[1].step[0].span.off++;
}

static void receive_before_sending(fire_sched_t *s)
{
    for (int r = 0; r < 6; r++) {
        fire_step_t send = s[r].step[0];

        s[r].step[0] = s[r].step[1];
        s[r].step[1] = send;
        for (int64_t i = 1; i < s[r].n; i++)
            s[r].step[i].round++;
    }
}

static void do_all_at_once(fire_sched_t *s)
{
    for (int64_t i = 0; i < s[0].n; i++)
        s[0].step[i].round = 0;
}

#define CHECK_FOUND(name, spoil, text)                               \
    do {                                                             \
        const char *found_ = proof_with(name, spoil);                \
        if (strstr(found_, text) == NULL)                            \
            test_fail(__FILE__, __LINE__, "%s: %s", #spoil, found_); \
    } while (0)

TEST(the_prover_finds_deliberate_mistakes)
{
    CHECK_FOUND("tree", forget_the_sum, "contributions");
    CHECK_FOUND("tree", add_on_the_way_down, "twice");
    CHECK_FOUND("ring", add_on_the_way_down, "twice");
    CHECK_FOUND("ring", leave_out_the_last_step, "receives");
    CHECK_FOUND("tree", move_a_span, "spans differ");
    CHECK_FOUND("ring", receive_before_sending, "deadlock");
    CHECK_FOUND("tree", do_all_at_once, "collide");
}

TEST(the_prover_finds_mistakes_in_sums_of_uneven_lanes)
{
    CHECK_STR(forest_proof_with(leave_as_it_is), "nothing found");
    CHECK(strstr(forest_proof_with(forget_a_merge), "contributions") != NULL);
    CHECK(strstr(forest_proof_with(take_the_wrong_array), "twice") != NULL);
}
