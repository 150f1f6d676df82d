/* Embed: words that it does not know. */
#include "layers/bench.h"

TEST(embed_refuses_words_it_does_not_know)
{
    static const float bad[] = {-1, 3, 1.5f, NAN};
    bench_t            b =
        bench("x:1", "y", "type: \"Embed\" embed_param { input_dim: 3 num_output: 2 }",
              CAFFE__PHASE__TEST);

    for (int i = 0; i < 4; i++) {
        bench_set(&b, "x", (floats_t){1, bad + i});
        CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                    "whole numbers from 0 to 2");
    }
    bench_end(&b);
    BENCH_REFUSES("x:1", "y", "type: \"Embed\" embed_param { num_output: 2 }",
                  "input_dim");
}
