/* firecaffe lr-find: a training with rising rates through the program. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind "base_lr: ". */
static double suggested(void)
{
    const char *at = strstr(ran.out, "base_lr: ");

    CHECK(at != NULL);
    return strtod(at + 9, NULL);
}

/* Whether a suggestion is good is seen by training with it. */
TEST(a_rate_is_suggested_that_trains)
{
    char line[64];

    make_training();
    SH_OK("firecaffe lr-find --solver solver.prototxt --from 1e-6 --to 100 "
          "-o rates.html --quiet");
    CHECK_HAS(ran.out, "steepest\n");
    CHECK_HAS(read_file("rates.html"), "Learning rates of solver.prototxt");
    CHECK_EQ(count_files("snap_*"), 0);
    snprintf(line, sizeof(line), "base_lr: %g\n", suggested());
    edit_file("solver.prototxt", "base_lr: 0.1\n", line);
    SH_OK("firecaffe train --solver solver.prototxt");
    CHECK_HAS(ran.err, "accuracy = 1\n");
}

TEST(several_workers_try_the_same_rates)
{
    make_training();
    SH_OK("firecaffe lr-find --solver solver.prototxt --lanes 4 --quiet >one; "
          "firecaffe lr-find --solver solver.prototxt --lanes 4 --workers 2 --quiet "
          ">two; "
          "cmp one two");
}

TEST(what_lr_find_needs_is_told)
{
    make_training();
    SH_FAILS("lr-find needs --solver FILE", "firecaffe lr-find");
    SH_FAILS("rates must rise",
             "firecaffe lr-find --solver solver.prototxt --from 1 --to 0.5");
}
