/* test_blocking.c - blocking calls for few bytes, among ranks that are threads. */
#include "ranks.h"
#include "test.h"

static void exchange_bytes(fire_comm_t *c, void *arg)
{
    int  rank = fire_comm_rank(c), size = fire_comm_size(c);
    char text[13] = "", all[64][5], mine[5];

    (void)arg;
    for (int root = 0; root < size; root += 3) {
        memset(text, 'a' + rank, sizeof(text));
        CHECK_OK(fire_comm_broadcast(c, root, text, sizeof(text)));
        CHECK_EQ(text[0], 'a' + root);
        CHECK_EQ(text[12], 'a' + root);
    }
    memset(mine, 'A' + rank, sizeof(mine));
    CHECK_OK(fire_comm_allgather(c, mine, sizeof(mine), all));
    for (int r = 0; r < size; r++)
        CHECK(all[r][0] == 'A' + r && all[r][4] == 'A' + r);
    CHECK(fire_comm_host(c, size - 1)[0] != '\0');
    CHECK_EQ(fire_comm_node(c, size - 1), 0);
}

TEST(bytes_of_any_length_are_broadcast_and_gathered)
{
    for (int size = 1; size <= 7; size++)
        run_ranks(size, &FIRE_COMM_OPTIONS_INIT, exchange_bytes, NULL);
}

static void one_fails(fire_comm_t *c, void *arg)
{
    int rank = fire_comm_rank(c), bad = *(int *)arg;

    CHECK_OK(fire_comm_agree(c, FIRE_OK));
    if (rank == bad)
        CHECK_FAILS(fire_comm_agree(c, FIRE_FAIL(FIRE_ERR_IO, "cannot read mean.bin")),
                    FIRE_ERR_IO, "cannot read mean.bin");
    else
        CHECK_FAILS(fire_comm_agree(c, FIRE_OK), FIRE_ERR_PEER, "cannot read mean.bin");
    if (rank != bad) {
        char who[16];

        snprintf(who, sizeof(who), "rank %d (", bad);
        CHECK(strstr(fire_last_error(), who) != NULL);
    }
    CHECK_OK(fire_comm_agree(c, FIRE_OK)); /* and life goes on */
}

TEST(the_failure_of_one_rank_reaches_all_with_its_text)
{
    for (int bad = 0; bad < 5; bad++)
        run_ranks(5, &FIRE_COMM_OPTIONS_INIT, one_fails, &bad);
}
