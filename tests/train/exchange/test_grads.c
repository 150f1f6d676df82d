/* test_grads.c - the order of gradients in memory and the order of their sums. */
#include "train/exchange/grads.h"
#include "base/alloc.h"
#include "model/load.h"
#include "net/net_state.h"
#include "test.h"

/* The canonical tree, serially: in round k, r and r + 2^k are added. */
static float tree(float *x, int n)
{
    for (int d = 1; d < n; d *= 2)
        for (int i = 0; i + d < n; i += 2 * d)
            x[i] = x[i] + x[i + d];
    return x[0];
}

TEST(lanes_add_up_in_the_canonical_tree_for_any_number)
{
    for (int lanes = 1; lanes <= 40; lanes++) {
        float        sum[1], level[6], all[40];
        fire_grads_t g = {.n = 1, .here = sum, .nroot = 1, .root[0] = {0, lanes}};

        for (int k = 0; k < 6; k++)
            g.level[k] = &level[k];
        for (int i = 0; i < lanes; i++) {
            sum[0] = all[i] = 1.0f / (float)(3 + i * i);
            CHECK_OK(fire_grads_add_lane(&g, i, 0, 1));
        }
        CHECK(sum[0] == tree(all, lanes));
    }
}

static fire_net_t *make_net(void)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param;
    fire_net_t          *net;

    o.phase = CAFFE__PHASE__TRAIN;
    CHECK_OK(fire_net_param_load_text(
        test_source("tests/train/nets/two_layers.prototxt"), &param));
    CHECK_OK(fire_net_create(param, &o, &net));
    fire_message_free(param);
    return net;
}

TEST(gradients_are_laid_out_from_the_last_layer_to_the_first)
{
    fire_net_t   *net = make_net();
    fire_grads_t *g;
    int64_t      *cut;
    int           n;

    CHECK_OK(fire_grads_create(net, &(fire_grads_options_t){.lanes = 1}, &g));
    CHECK_EQ(g->nscalar, FIRE_SCALAR_OUTPUTS + 1); /* the loss is an output too */
    CHECK_EQ(net->nparam, 4);                      /* weights and biases of ip1, ip2 */
    for (int i = 0; i < 2; i++)
        CHECK(g->offset[2 + i] < g->offset[0] && g->offset[i] % 16 == 0);
    CHECK_OK(fire_grads_cuts(g, &cut, &n));
    CHECK_EQ(n, 3);
    CHECK_EQ(cut[0], g->head);
    CHECK_EQ(cut[1], g->offset[0]);
    CHECK_EQ(cut[2], g->n);
    fire_free(cut);
    fire_net_destroy(net);
    fire_grads_destroy(g);
}

TEST(gradients_of_a_layer_are_one_span_that_its_blobs_share)
{
    fire_net_t   *net = make_net();
    fire_grads_t *g;
    float        *diff;
    int           layer = net->learn[0].first_use;

    CHECK_OK(fire_grads_create(net, &(fire_grads_options_t){.lanes = 1}, &g));
    CHECK_EQ(g->span[layer].off, g->offset[0]);
    CHECK_EQ(g->span[layer].off + g->span[layer].len, g->n);
    CHECK_OK(fire_blob_write(net->learn[0].blob, FIRE_DIFF, FIRE_CPU, &diff));
    CHECK(diff == g->here + g->offset[0] && g->here == g->sum);
    fire_net_destroy(net);
    fire_grads_destroy(g);
}

/* clear() only marks gradients as zero; settle() writes the zeros. */
TEST(cleared_gradients_are_zero_once_they_are_settled)
{
    fire_net_t   *net = make_net();
    fire_grads_t *g;

    CHECK_OK(fire_grads_create(net, &(fire_grads_options_t){.lanes = 1}, &g));
    for (int64_t i = 0; i < g->n; i++)
        g->here[i] = 7;
    CHECK_OK(fire_grads_clear(g, 0, g->n));
    CHECK_EQ(g->here[g->offset[0]], 7); /* not written yet */
    CHECK_OK(fire_grads_settle(g, 0, g->n));
    for (int64_t i = 0; i < g->n; i++)
        CHECK_EQ(g->here[i], 0);
    fire_net_destroy(net);
    fire_grads_destroy(g);
}
