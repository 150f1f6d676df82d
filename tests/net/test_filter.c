/* Which layers belong to a phase, level and stages. */
#include "nets.h"

static const char rules[] =
    "layer { name: 'a' type: 'Input' top: 'a' include { phase: TRAIN } }"
    "layer { name: 'b' type: 'Input' top: 'b' exclude { phase: TRAIN } }"
    "layer { name: 'c' type: 'Input' top: 'c' include { stage: 'x' stage: 'y' } }"
    "layer { name: 'd' type: 'Input' top: 'd' include { min_level: 2 not_stage: 'y' } }"
    "layer { name: 'e' type: 'Input' top: 'e' }";

/* Names of the layers that stay, in a row. */
static const char *kept(Caffe__Phase phase, int level, int nstage, char **stage)
{
    static char          names[16];
    Caffe__NetState      state = CAFFE__NET_STATE__INIT;
    Caffe__NetParameter *in    = net_param(rules), *out;

    state.phase   = phase;
    state.level   = level;
    state.stage   = stage;
    state.n_stage = (size_t)nstage;
    CHECK_OK(fire_net_filter(in, &state, &out));
    names[0] = '\0';
    for (size_t i = 0; i < out->n_layer; i++)
        strcat(names, out->layer[i]->name);
    fire_message_free(in);
    fire_message_free(out);
    return names;
}

TEST(rules_choose_by_phase_level_and_all_of_the_stages)
{
    char *xy[] = {"x", "y"};

    CHECK_STR(kept(CAFFE__PHASE__TRAIN, 0, 0, NULL), "ae");
    CHECK_STR(kept(CAFFE__PHASE__TEST, 0, 0, NULL), "be");
    CHECK_STR(kept(CAFFE__PHASE__TEST, 0, 1, xy), "be");
    CHECK_STR(kept(CAFFE__PHASE__TEST, 0, 2, xy), "bce");
    CHECK_STR(kept(CAFFE__PHASE__TEST, 2, 1, xy), "bde");
    CHECK_STR(kept(CAFFE__PHASE__TEST, 3, 2, xy), "bce");
}

TEST(include_and_exclude_together_are_refused)
{
    fire_net_t *net;

    CHECK_FAILS(
        net_try("layer { name: 'a' type: 'Input' top: 'a' include { phase: TEST }"
                " exclude { phase: TRAIN } }",
                CAFFE__PHASE__TEST, &net),
        FIRE_ERR_INVALID, "layer \"a\" has both include and exclude");
}
