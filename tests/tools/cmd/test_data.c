/* data check, as a user runs it. */
#include "data/source/writer.h"
#include "fixture.h"

TEST(data_check_prints_classes_and_writes_a_page)
{
    make_training();
    SH_OK("firecaffe data check db -o check.html");
    CHECK_HAS(ran.out, "LMDB, 64 records\nimages: 1 x 8 x 8\n");
    CHECK_HAS(ran.out, "classes: 4\n");
    CHECK_HAS(ran.out, "broken records: 0\n");
    CHECK_HAS(read_file("check.html"), "<img width='8' height='8'");
}

TEST(data_check_fails_where_a_record_is_broken_and_names_it)
{
    fire_writer_t *w;
    char           path[1024];

    snprintf(path, sizeof(path), "%s/bad", test_tmpdir());
    CHECK_OK(fire_writer_open("lmdb", path, &w));
    CHECK_OK(fire_writer_put(w, "first", "?", 1));
    CHECK_OK(fire_writer_commit(w));
    SH_FAILS("bad: 1 of 1 records are broken", "firecaffe data check bad");
    SH_FAILS("cannot open \"nothing\"", "firecaffe data check nothing");
}
