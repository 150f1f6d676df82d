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

/* What the net file says counts for every command, not for training alone. */
TEST(the_state_in_a_net_chooses_its_layers)
{
    static const char *const with_state[] = {
        "state { stage: 'x' level: 2 }",
        "state { stage: 'x' stage: 'y' level: 3 phase: TRAIN }"};
    static const char *const want[] = {"bde", "bce"};

    for (int i = 0; i < 2; i++) {
        char        text[1024], names[16] = "";
        fire_net_t *net;

        snprintf(text, sizeof(text), "%s %s", with_state[i], rules);
        CHECK_OK(net_try(text, CAFFE__PHASE__TEST, &net));
        for (int k = 0; k < fire_net_nlayer(net); k++)
            strcat(names, fire_net_layer_name(net, k));
        CHECK_STR(names, want[i]);
        fire_net_destroy(net);
    }
}

TEST(a_level_that_is_asked_for_wins_over_the_one_in_the_net)
{
    fire_net_options_t   o     = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param = net_param(
        "state { level: 1 } layer { name: 'a' type: 'Input' top: 'a' include { "
        "max_level: 1 } } layer { name: 'b' type: 'Input' top: 'b' include { "
        "min_level: "
        "2 } }");
    fire_net_t *net;

    o.level = 2;
    CHECK_OK(fire_net_create(param, &o, &net));
    CHECK_STR(fire_net_layer_name(net, 0), "b");
    fire_net_destroy(net);
    o.level       = 0;
    o.whole_state = true; /* 0 is meant */
    CHECK_OK(fire_net_create(param, &o, &net));
    CHECK_STR(fire_net_layer_name(net, 0), "a");
    CHECK_EQ(fire_net_nlayer(net), 1);
    fire_net_destroy(net);
    fire_message_free(param);
}
