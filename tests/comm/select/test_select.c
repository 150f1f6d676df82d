/* test_select.c - tuning tables and "auto". Tests src/comm/select/. */
#include "comm/select/select.h"

#include "ranks.h"
#include "test.h"

static const char table[] = "# firecaffe tuning 1\n"
                            "\n"
                            "4 0       tree\n"
                            "4 65536   ring rhd   # the ring is not canonical\n"
                            "4 1048576 multicolor:colors=7:piece=65536 direct\n"
                            "8 0       ps tree\n";

TEST(a_table_gives_the_choices_of_the_nearest_smaller_size)
{
    fire_tuning_t *t;
    fire_choice_t  c;

    CHECK_OK(fire_tuning_parse("t", table, &t));
    CHECK(fire_tuning_at(t, 4, 100, 0, &c));
    CHECK_STR(c.algo->name, "tree");
    CHECK(!fire_tuning_at(t, 4, 100, 1, &c));
    CHECK(fire_tuning_at(t, 4, 65536, 0, &c));
    CHECK_STR(c.algo->name, "ring");
    CHECK(fire_tuning_at(t, 4, 1048575, 1, &c));
    CHECK_STR(c.algo->name, "rhd");
    CHECK(fire_tuning_at(t, 4, 1u << 30, 0, &c));
    CHECK_STR(c.algo->name, "multicolor");
    CHECK_EQ(c.colors, 7);
    CHECK_EQ(c.piece, 65536);
    CHECK(fire_tuning_at(t, 8, 1u << 30, 1, &c));
    CHECK(!fire_tuning_at(t, 3, 100, 0, &c));
    fire_tuning_destroy(t);
}

TEST(mistakes_in_a_table_are_named_with_their_line)
{
    fire_tuning_t *t;

    CHECK_FAILS(fire_tuning_parse("t.txt", "4 0 tree\nfour 0 tree\n", &t),
                FIRE_ERR_PARSE, "t.txt:2: expected: RANKS");
    CHECK_FAILS(fire_tuning_parse("t.txt", "4 0 oak\n", &t), FIRE_ERR_INVALID,
                "t.txt:1: unknown collective algorithm \"oak\"");
    CHECK_FAILS(fire_tuning_parse("t.txt", "4 0 tree:leaves=3\n", &t), FIRE_ERR_PARSE,
                "leaves=3");
}

/* ---- what `auto` takes ---- */

static const fire_algo_t *automatic(fire_comm_t *c, size_t count, bool canonical,
                                    const char *compress, float *x)
{
    fire_collective_options_t o = {
        .algo = "auto", .canonical = canonical, .compress = compress};
    fire_collective_t *coll;
    const fire_algo_t *algo;

    CHECK_OK(fire_collective_create(c, &o, x, count, &coll));
    algo = fire_collective_algo(coll);
    fire_collective_destroy(coll);
    return algo;
}

static void choose_by_table(fire_comm_t *c, void *arg)
{
    static float x[100000];

    (void)arg;
    CHECK_STR(automatic(c, 10, false, NULL, x)->name, "tree");
    CHECK_STR(automatic(c, 20000, false, NULL, x)->name, "ring");
    CHECK_STR(automatic(c, 20000, true, NULL, x)->name, "rhd");
    CHECK(automatic(c, 20000, false, "1bit", x)->flags & FIRE_ALGO_ONE_HOP);
}

TEST(auto_follows_the_table_as_far_as_it_fits_the_wish)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
    char                path[600];
    FILE               *f;

    snprintf(path, sizeof(path), "%s/tuning", test_tmpdir());
    f = fopen(path, "w");
    CHECK(f != NULL && fputs(table, f) >= 0 && fclose(f) == 0);
    o.tuning = path;
    run_ranks(4, &o, choose_by_table, NULL);
}

static void choose_by_cost(fire_comm_t *c, void *arg)
{
    static float x[1 << 20];
    bool         apart = fire_comm_node(c, 1) != fire_comm_node(c, 0);

    (void)arg;
    for (size_t n = 1; n <= 1 << 20; n *= 4)
        CHECK(automatic(c, n, true, NULL, x)->flags & FIRE_ALGO_CANONICAL);
    if (apart) { /* over a network: few rounds for few bytes, then all links */
        CHECK(strcmp(automatic(c, 1, false, NULL, x)->name, "ps") != 0);
        CHECK(strcmp(automatic(c, 1 << 20, false, NULL, x)->name, "tree") != 0);
        CHECK(strcmp(automatic(c, 1 << 20, false, NULL, x)->name, "ps") != 0);
    } else {
        CHECK_STR(automatic(c, 1 << 20, false, NULL, x)->name, "onesided");
    }
}

TEST(auto_without_a_table_goes_by_cost)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;

    run_ranks(8, &o, choose_by_cost, NULL);
    o.ranks_per_node = 1;
    run_ranks(8, &o, choose_by_cost, NULL);
}

static void want_canonical(fire_comm_t *c, void *arg)
{
    fire_collective_options_t o = {.algo = "ring", .canonical = true};
    fire_collective_t        *coll;
    float                     x = 0;

    (void)arg;
    CHECK_FAILS(fire_collective_create(c, &o, &x, 1, &coll), FIRE_ERR_UNSUPPORTED,
                "canonical order");
    o = (fire_collective_options_t){.algo = "mpi"};
    CHECK_FAILS(fire_collective_create(c, &o, &x, 1, &coll), FIRE_ERR_UNSUPPORTED,
                "choose another");
}

TEST(an_algorithm_that_cannot_do_it_is_refused)
{
    run_ranks(2, &FIRE_COMM_OPTIONS_INIT, want_canonical, NULL);
}

TEST(the_library_is_not_expected_to_beat_a_ring_between_hosts)
{
    static const fire_machine_t net = {
        .net = {.alpha = 20e-6, .beta = 1 / 1.2e9, .gamma = 1 / 20e9}};
    static const int   node[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const fire_algo_t *ring, *library;

    CHECK_OK(fire_algo_find("ring", &ring));
    CHECK_OK(fire_algo_find("mpi", &library));
    for (int size = 2; size <= 8; size += 2)
        for (size_t count = 1000; count < 100000000; count *= 5) {
            fire_coll_t d = {.size = size, .node = node, .span = {0, count}};
            double      cost;

            d.piece = fire_piece_of(ring, &d) / sizeof(float);
            cost    = ring->cost(&d, &net);
            d.piece = fire_piece_of(library, &d) / sizeof(float);
            CHECK(library->cost(&d, &net) > cost);
        }
}

TEST(a_missing_table_is_an_error)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
    fire_team_t        *team;
    fire_comm_t        *c;

    o.tuning = "/nowhere/table";
    CHECK_OK(fire_team_create(1, &team));
    CHECK_FAILS(fire_comm_open_threads(team, 0, &o, &c), FIRE_ERR_IO, "/nowhere/table");
    fire_team_destroy(team);
}
