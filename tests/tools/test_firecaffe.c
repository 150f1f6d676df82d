/* The program as a whole: finding commands, help, errors. Tests tools/cmd/version.c too.
 * */
#include "program.h"

TEST(without_arguments_it_lists_the_commands)
{
    SH_OK("firecaffe");
    CHECK_HAS(ran.out, "usage: firecaffe COMMAND");
    CHECK_HAS(ran.out, "\n  log ");
    SH_OK("firecaffe --help");
    CHECK_HAS(ran.out, "usage: firecaffe COMMAND");
}

TEST(each_listed_command_explains_itself_with_an_example)
{
    SH_OK("firecaffe | sed -n 's/^  \\([a-z0-9_]*\\( [a-z0-9]*\\)\\{0,1\\}\\)  "
          ".*/\\1/p' >list;"
          "test $(wc -l <list) -ge 2;"
          "while read -r c; do firecaffe $c --help >h || exit 1;"
          "  grep -q \"^usage: firecaffe $c\" h || { echo \"$c: usage\"; exit 1; };"
          "  [ \"$c\" = version ] || grep -q '^Example' h ||"
          "    { echo \"$c: no example\"; exit 1; }; done <list");
}

TEST(help_before_or_after_the_command_is_the_same)
{
    SH_OK("firecaffe help log >a && firecaffe log --help >b && cmp a b");
    SH_OK("firecaffe log -h >b && cmp a b && summarize.py -h >/dev/null");
}

TEST(help_of_a_first_word_lists_the_commands_that_begin_with_it)
{
    SH_OK("firecaffe convert --help >a && firecaffe help convert >b && cmp a b");
    SH_OK("firecaffe convert --help");
    CHECK_HAS(ran.out, "  convert mnist ");
    CHECK(strstr(ran.out, "train") == NULL);
    SH_FAILS("bench needs a second word: allreduce", "firecaffe bench");
}

TEST(help_fits_a_terminal_of_80_columns)
{
    SH_OK("firecaffe | sed -n 's/^  \\([a-z0-9_]*\\( [a-z0-9]*\\)\\{0,1\\}\\)  "
          ".*/\\1/p' >list;"
          "{ firecaffe; while read -r c; do firecaffe $c --help; done <list; } |"
          "  awk 'length > 80 && !/^usage/ { print; bad = 1 } END { exit bad }'");
}

TEST(a_misspelt_command_or_flag_is_answered_with_the_nearest)
{
    SH_FAILS("unknown command 'versoin'; did you mean 'version'?", "firecaffe versoin");
    SH_FAILS("unknown flag --delimitr; did you mean --delimiter?",
             "firecaffe log --delimitr=x y");
}

TEST(a_command_takes_no_flag_that_would_do_nothing)
{
    SH_FAILS("unknown flag --recompute", "firecaffe device_query --recompute");
    SH_FAILS("unknown flag --threads", "firecaffe device_query --threads 2");
}

TEST(wrong_numbers_of_arguments_are_answered_with_the_usage)
{
    SH_FAILS("usage: firecaffe log LOG [DIR]", "firecaffe log");
    SH_FAILS("\"c\" is one argument too many", "firecaffe log a b c");
}

TEST(version_is_one_word_after_the_name)
{
    SH_OK("firecaffe version");
    CHECK(strncmp(ran.out, "firecaffe " FIRE_VERSION "\n",
                  strlen("firecaffe " FIRE_VERSION "\n")) == 0);
    SH_OK("firecaffe --version");
    CHECK_HAS(ran.out, FIRE_VERSION);
}

TEST(verbose_adds_where_an_error_arose)
{
    CHECK_EQ(sh("firecaffe log /no/such/file --verbose"), 1);
    CHECK_HAS(ran.err, "firecaffe: error: ");
    CHECK_HAS(ran.err, "\n  at ");
}

TEST(an_output_that_cannot_be_written_is_an_error)
{
    SH_FAILS("cannot write the output", "firecaffe version >/dev/full");
}
