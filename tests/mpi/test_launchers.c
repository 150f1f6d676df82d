/* test_launchers.c - one program, without MPI, under Open MPI's launcher and under MPICH's.
 * Tests src/comm/transport/load_mpi.c and src/comm/transport/module/. */
#include "training.h"

static char want[65]; /* what one worker makes of it */

static void train_alone(void)
{
    make_net(LENET, "");
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_60.caffemodel"));
}

/* The log of the run, run.jsonl, names the library. */
static void check_same(const char *launcher, int n, const char *library)
{
    SH_OK(ENVIRONMENT "rm -rf snap_* run; %s -n %d " TRAIN "--run_dir run", launcher,
          n);
    SH_OK("grep '\"mpi\":\"%s' run/run.jsonl", library);
    if (strcmp(sha256_of("run/snap_iter_60.caffemodel"), want) != 0)
        test_fail(__FILE__, __LINE__, "%s -n %d: other bits", launcher, n);
}

TEST(the_program_trains_with_the_same_bits_under_open_mpi)
{
    const char *launcher = open_mpi_launcher();

    if (launcher == NULL) test_skip("no Open MPI");
    train_alone();
    check_same(launcher, 2, "Open MPI");
    check_same(launcher, 4, "Open MPI");
}

TEST(the_same_program_trains_with_the_same_bits_under_mpich)
{
    const char *launcher = mpich_launcher();

    if (launcher == NULL) test_skip("no MPICH");
    train_alone();
    check_same(launcher, 2, "MPICH");
    check_same(launcher, 4, "MPICH");
}

TEST(nothing_is_linked_with_an_mpi_library)
{
    if (sh("command -v readelf") != 0) test_skip("no readelf");
    SH_OK(
        "cd %s; for file in $(ls firecaffe libfire.so lib/firecaffe/*.so 2>/dev/null); "
        "do readelf -d $file | grep NEEDED | grep -i mpi && exit 1; done; "
        "readelf -d firecaffe | grep 'NEEDED.*libc.so'",
        FIRE_BUILD_DIR);
}

TEST(no_mpi_library_is_opened_before_there_is_a_job)
{
    make_net(LENET, "");
    SH_OK(ENVIRONMENT
          "LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/opened " TRAIN "--workers 2; "
          "grep -q libc.so opened.* && ! grep -Ei 'libmpi|fire_mpi' opened.*");
}

/* ---- machines where something is missing ---- */

/* A machine that has nothing but the program, our modules and the libraries that ldd
 * names; the test's folder is its root. */
static void make_machine(void)
{
    if (sh("unshare -rm true && command -v chroot ldd") != 0)
        test_skip("no namespaces here");
    make_net(LENET, "");
    SH_OK("mkdir -p proc dev opt/bin opt/lib/firecaffe && touch dev/null && "
          "cp $(readlink -f %s/firecaffe) %s/libfire_early.so.0 opt/bin && "
          "cp %s/lib/firecaffe/*.so opt/lib/firecaffe && "
          "ldd opt/bin/firecaffe | grep -o '/[^ ]*' | sort -u | "
          "xargs cp -L --parents -t . && ! find . -name 'libmpi*' | grep .",
          FIRE_BUILD_DIR, FIRE_BUILD_DIR, FIRE_BUILD_DIR);
}

#define THERE                                                      \
    "unshare -rm sh -c 'mount --rbind /proc proc && mount --bind " \
    "/dev/null dev/null && exec chroot . \"$@\"' -- "
#define TRAIN_THERE "/opt/bin/firecaffe train --solver solver.prototxt --lanes=8 "

TEST(where_no_mpi_is_installed_the_program_trains_with_the_same_bits)
{
    make_machine();
    train_alone();
    SH_OK(ENVIRONMENT "rm snap_*; " THERE TRAIN_THERE "--bucket_mb=0.02 --workers=2");
    if (strcmp(sha256_of("snap_iter_60.caffemodel"), want) != 0)
        test_fail(__FILE__, __LINE__, "without MPI: other bits");
}

TEST(a_job_without_its_mpi_library_says_which_and_where_to_get_it)
{
    if (open_mpi_launcher() == NULL) test_skip("no Open MPI");
    make_machine();
    SH_FAILS(
        "the launcher is Open MPI's (OMPI_COMM_WORLD_SIZE is set): Open MPI is not "
        "installed (libmpi.so.40: cannot open",
        "OMPI_COMM_WORLD_SIZE=2 " THERE TRAIN_THERE);
    CHECK_HAS(ran.err, "on Debian install openmpi-bin");
    if (mpich_launcher() == NULL) return;
    SH_FAILS("the launcher is MPICH's (MPI_LOCALNRANKS is set): MPICH is not installed "
             "(libmpich.so.12: cannot open",
             "MPI_LOCALNRANKS=2 " THERE TRAIN_THERE);
    SH_FAILS("Open MPI is not installed", "PMI_SIZE=2 " THERE TRAIN_THERE);
    CHECK_HAS(ran.err, "MPICH is not installed");
}

/* The program, alone in a folder with no modules or with those of the test. */
static void copy_program(void)
{
    make_net(LENET, "");
    SH_OK("mkdir -p p/bin p/lib/firecaffe && "
          "cp $(readlink -f %s/firecaffe) %s/libfire_early.so.0 p/bin",
          FIRE_BUILD_DIR, FIRE_BUILD_DIR);
}

TEST(a_job_without_its_module_says_where_it_was_looked_for)
{
    copy_program();
    SH_FAILS("has no module for Open MPI (fire_mpi_openmpi.so is not in ",
             "OMPI_COMM_WORLD_SIZE=2 p/bin/firecaffe train --solver solver.prototxt");
    CHECK_HAS(ran.err, "p/lib/firecaffe");
}

TEST(a_module_of_another_version_is_refused)
{
    if (open_mpi_launcher() == NULL || sh("command -v cc") != 0)
        test_skip("no Open MPI or no compiler");
    copy_program();
    write_file("old.c", "#include <stdint.h>\nextern const uint32_t fire_mpi_table[];\n"
                        "const uint32_t fire_mpi_table[64] = {77};\n");
    SH_OK("cc -shared -fPIC old.c -o p/lib/firecaffe/fire_mpi_openmpi.so");
    SH_FAILS("is a module for version 77 of libfire's MPI table",
             "OMPI_COMM_WORLD_SIZE=2 p/bin/firecaffe train --solver solver.prototxt");
}

/* ---- FIRE_MPI ---- */

TEST(the_launcher_of_another_mpi_is_noticed)
{
    const char *launcher = open_mpi_launcher();

    if (launcher == NULL || mpich_launcher() == NULL)
        test_skip("not both of Open MPI and MPICH");
    make_net(LENET, "");
    CHECK(sh(ENVIRONMENT "FIRE_MPI=mpich %s -n 2 " TRAIN, launcher) != 0);
    CHECK_HAS(ran.err, "the launcher has started 2 processes, but MPICH");
    CHECK_HAS(ran.err, "set FIRE_MPI to openmpi or mpich");
}

TEST(fire_mpi_overrules_the_choice)
{
    const char *launcher = open_mpi_launcher();

    if (launcher == NULL) test_skip("no Open MPI");
    train_alone();
    SH_OK(ENVIRONMENT "rm snap_*; FIRE_MPI=openmpi %s -n 2 " TRAIN, launcher);
    CHECK_STR(sha256_of("snap_iter_60.caffemodel"), want);
    SH_OK(ENVIRONMENT "rm snap_*; FIRE_MPI=$(ldconfig -p | sed -n "
                      "'s/.*libmpi.so.40 .*=> //p' | head -1) %s -n 2 " TRAIN,
          launcher);
    CHECK_STR(sha256_of("snap_iter_60.caffemodel"), want);
}

/* ---- programs that use MPI themselves ---- */

static void check_host(const char *launcher, const char *compiler)
{
    if (launcher == NULL || TEST_SANITIZED ||
        sh("command -v %s && test -e %s/libfire.so", compiler, FIRE_BUILD_DIR) != 0)
        test_skip("this MPI or libfire.so is not here, or sanitizers are");
    SH_OK("%s $SRC/tests/mpi/host/host.c -I$SRC/include -o host -L%s -lfire "
          "-Wl,-rpath,%s",
          compiler, FIRE_BUILD_DIR, FIRE_BUILD_DIR);
    SH_OK(ENVIRONMENT "%s -n 3 ./host", launcher);
    CHECK_HAS(ran.out, "sum 6\n");
}

TEST(a_program_that_has_started_open_mpi_keeps_it)
{
    check_host(open_mpi_launcher(), "mpicc.openmpi");
}

TEST(a_program_that_has_started_mpich_keeps_it)
{
    check_host(mpich_launcher(), "mpicc.mpich");
}
