/* firecaffe manual. Tests tools/view/manpage.c, tools/view/completion.c,
 * tools/view/completion_bash.c, tools/view/completion_zsh.c and
 * tools/view/completion_fish.c. */
#include "../program.h"

/* Shell functions: `commands` prints the names of all commands, `flags COMMAND` those
 * of its flags. */
#define LISTS                                                                      \
    "commands() { firecaffe | sed -n "                                             \
    "'s/^  \\([a-z0-9_]*\\( [a-z0-9]*\\)\\{0,1\\}\\)  .*/\\1/p'; };"               \
    "flags() { firecaffe $1 --help | sed -n 's/^  --\\([a-z0-9_]*\\).*/\\1/p'; };" \
    "firecaffe manual out >/dev/null || exit 1;"

/* Sets COMPREPLY as bash does when Tab is typed after these words. */
#define COMPLETE                                                                    \
    "complete_words() { COMP_WORDS=(firecaffe \"$@\"); COMP_CWORD=$#; _firecaffe; " \
    "echo \"${COMPREPLY[*]}\"; }; source out/completions/bash/firecaffe; "

static void need(const char *program)
{
    if (sh("command -v %s", program) != 0) test_skip("a program is not installed");
}

/* What bash suggests after these words of the command line. */
static const char *suggested(const char *words)
{
    SH_OK("firecaffe manual out >/dev/null && bash -c '" COMPLETE "complete_words %s'",
          words);
    return ran.out;
}

TEST(every_command_has_a_page_and_every_flag_is_on_it)
{
    SH_OK(LISTS "commands >list; test $(wc -l <list) -ge 20;"
                "while read -r c; do p=out/man/firecaffe-$(echo $c | tr ' ' -).1;"
                "  grep -q '^.SH SYNOPSIS' $p || { echo \"$c: no page\"; exit 1; };"
                "  flags \"$c\" >f; test $(wc -l <f) -ge 5 || exit 1;"
                "  while read -r f; do grep -q \"^.fB.-.-$f.fR\" $p ||"
                "    { echo \"$c: no --$f\"; exit 1; }; done <f;"
                "  grep -q \"^.B $c\\$\" out/man/firecaffe.1 ||"
                "    { echo \"$c: not in firecaffe.1\"; exit 1; }; done <list");
}

TEST(pages_have_defaults_and_examples)
{
    SH_OK("firecaffe manual out && cat out/man/firecaffe-train.1");
    CHECK_HAS(ran.out, "\n.SH EXAMPLES\n.PP\n.RS 4\n.EX\nfirecaffe train");
    CHECK_HAS(ran.out, "\n.SS \"Workers\"\n");
    CHECK_HAS(ran.out, "(default: stop)\n");
}

TEST(groff_has_no_complaint_about_a_page)
{
    need("groff");
    SH_OK("firecaffe manual out && for p in out/man/*.1; do"
          "  groff -man -ww -Tascii $p 2>&1 >/dev/null; done >complaints;"
          "cat complaints; test ! -s complaints");
}

TEST(every_command_and_flag_is_in_the_script_of_each_shell)
{
    SH_OK(LISTS "cd out/completions; commands >list; while read -r c; do"
                "  grep -q \"^    \\\"$c\\\")\" bash/firecaffe || exit 1;"
                "  grep -q \"^    ('$c')\" zsh/_firecaffe || exit 1;"
                "  flags \"$c\" >f; while read -r f; do"
                "    grep -q -- \" '--$f[=[]\" zsh/_firecaffe &&"
                "    grep -q -- \"[\\\" ]--$f \" bash/firecaffe &&"
                "    grep -q \"__firecaffe_is $c' -l $f \" fish/firecaffe.fish ||"
                "      { echo \"$c --$f\"; exit 1; }; done <f; done <list");
}

TEST(scripts_are_correct_for_their_shells)
{
    SH_OK("firecaffe manual out && bash -n out/completions/bash/firecaffe");
    SH_OK("bash -c 'source out/completions/bash/firecaffe; complete -p firecaffe'");
    CHECK_STR(ran.out, "complete -F _firecaffe firecaffe\n");
    SH_OK("! command -v zsh || zsh -n out/completions/zsh/_firecaffe");
    SH_OK("! command -v fish || fish -n out/completions/fish/firecaffe.fish");
}

TEST(bash_completes_commands_and_flags)
{
    CHECK_STR(suggested("tr"), "train\n");
    CHECK_STR(suggested("convert m"), "mnist\n");
    CHECK_STR(suggested("train --sol"), "--solver\n");
    CHECK_STR(suggested("train -sol"), "--solver\n");
    CHECK_STR(suggested("convert imageset --shuf"), "--shuffle\n");
    CHECK_STR(suggested("convert mnist --shuf"), "\n");
}

TEST(bash_completes_files_by_extension_and_directories)
{
    SH_OK("mkdir nets; touch nets/a.prototxt nets/a.caffemodel neither");
    CHECK_STR(suggested("train --solver n"), "nets\n");
    CHECK_STR(suggested("train --solver nets/"), "nets/a.prototxt\n");
    CHECK_STR(suggested("train --solver = nets/"), "nets/a.prototxt\n");
    CHECK_STR(suggested("train --run_dir n"), "nets\n");
    CHECK_STR(suggested("train --workers n"), "\n");
    CHECK_STR(suggested("summarize nei"), "neither\n");
    CHECK_STR(suggested("device_query nei"), "\n");
}

TEST(the_same_program_writes_the_same_pages)
{
    SH_OK("firecaffe manual a && firecaffe manual b && diff -r a b");
}

TEST(a_folder_that_cannot_be_made_is_named)
{
    SH_FAILS("afile", "touch afile; firecaffe manual afile");
    SH_FAILS("usage: firecaffe manual DIR", "firecaffe manual");
}
