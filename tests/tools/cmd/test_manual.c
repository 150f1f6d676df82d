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

TEST(every_name_of_caffes_tools_has_the_page_of_its_command)
{
    SH_OK(
        "firecaffe manual out >/dev/null && cat out/man/caffe.1 out/man/parse_log.sh.1 "
        "out/man/upgrade_net_proto_text.1 out/man/convert_imageset.1");
    CHECK_STR(ran.out, ".so man1/firecaffe.1\n.so man1/firecaffe-log.1\n"
                       ".so man1/firecaffe-upgrade.1\n"
                       ".so man1/firecaffe-convert-imageset.1\n");
    SH_OK("for p in $(sed -n 's/^NAME(\\([a-z_.]*\\),.*/\\1/p' %s/tools/names.def); do"
          "  to=$(sed 's|.so man1/||' out/man/$p.1) || exit 1;"
          "  grep -q '^.TH' out/man/$to || exit 1; done",
          FIRE_SOURCE_DIR);
}

TEST(groff_has_no_complaint_about_a_page)
{
    need("groff");
    SH_OK("firecaffe manual out && cd out/man && ln -s . man1 && for p in *.1; do"
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
    SH_OK(
        "bash -c 'source out/completions/bash/firecaffe; complete -p firecaffe caffe'");
    CHECK_STR(ran.out, "complete -F _firecaffe firecaffe\n"
                       "complete -F _firecaffe caffe\n");
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

/* Words to choose from are beside the sentence that explains them: none may miss. */
TEST(each_word_that_is_suggested_stands_in_the_help_of_its_flag)
{
    SH_OK("firecaffe manual out; sed -n 's/^ *\\([a-z_]*\\)) _firecaffe_words "
          "\"$cur\" \"\\(.*\\)\";.*/\\1 \\2/p' out/completions/bash/firecaffe | sort "
          "-u >list;"
          "test $(wc -l <list) -ge 12 || exit 1;"
          "for c in train net plan sweep 'convert imageset' 'convert annoset' mean "
          "draw detect resize; do"
          "  firecaffe $c --help; done | tr '\\n' ' ' | tr -s ' ' >all;"
          "while read -r flag words; do for w in $words; do"
          "  case $w in true|false) continue;; esac;"
          "  grep -o -- \"--$flag [A-Z][A-Za-z0-9]* [^-].*\" all | sed 's/ --.*//' |"
          "    grep -qF -- $w || { echo \"--$flag: $w\"; exit 1; }; done; done <list");
}

TEST(shells_complete_words_that_a_flag_takes)
{
    CHECK_STR(suggested("train --precision \"\""), "fp32 tf32 bf16 fp16\n");
    CHECK_STR(suggested("train --comm r"), "ring rhd\n");
    CHECK_STR(suggested("train --rng = c"), "caffe\n");
    CHECK_STR(suggested("convert imageset --backend le"), "leveldb\n");
    SH_OK("grep -- '--phase=' out/completions/zsh/_firecaffe");
    CHECK_HAS(ran.out, ":NAME:(TRAIN TEST)'");
    need("fish");
    SH_OK("fish -c 'source out/completions/fish/firecaffe.fish;"
          " complete -C \"firecaffe train --rng \"'");
    CHECK_HAS(ran.out, "caffe\trandom");
    CHECK_HAS(ran.out, "fire\trandom");
}

TEST(zsh_completes_commands_flags_and_words)
{
    need("zsh");
    SH_OK("firecaffe manual out; export FPATH=$PWD/out/completions/zsh:$(zsh -fc 'echo "
          "$FPATH');"
          "zsh -f %s/tests/install/complete.zsh 'firecaffe train --precision '",
          FIRE_SOURCE_DIR);
    CHECK_HAS(ran.out, "bf16");
    SH_OK("export FPATH=$PWD/out/completions/zsh:$(zsh -fc 'echo $FPATH');"
          "zsh -f %s/tests/install/complete.zsh 'firecaffe convert ima'",
          FIRE_SOURCE_DIR);
    CHECK_HAS(ran.out, "imageset");
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
