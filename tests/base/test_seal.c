/* Seals of files: every byte counts. */
#include "base/seal.h"

#include <unistd.h>
#include "base/file.h"
#include "test.h"

TEST(a_sealed_file_of_any_length_is_checked)
{
    static char bytes[200000];
    bool        sealed;

    for (size_t n = 0; n < sizeof(bytes); n = 3 * n + 1) {
        CHECK_OK(fire_file_write_sealed(test_path("f"), bytes, n));
        CHECK_OK(fire_seal_check(test_path("f"), &sealed));
        CHECK(sealed);
        CHECK_EQ(truncate(test_path("f"), (off_t)n + FIRE_SEAL_SIZE + 1), 0);
        CHECK_OK(fire_seal_check(test_path("f"), &sealed));
        CHECK(!sealed);
    }
}

TEST(a_file_without_a_seal_has_none)
{
    bool sealed;

    CHECK_OK(fire_file_write(test_path("f"), "four", 4));
    CHECK_OK(fire_seal_check(test_path("f"), &sealed));
    CHECK(!sealed);
    CHECK_FAILS(fire_seal_check(test_path("none"), &sealed), FIRE_ERR_IO, "none");
}

TEST(a_seal_of_other_bytes_is_damage)
{
    bool sealed;

    CHECK_OK(fire_file_write(test_path("f"),
                             "four\xcd\x3e"
                             "1234",
                             10));
    CHECK_FAILS(fire_seal_check(test_path("f"), &sealed), FIRE_ERR_PARSE,
                "f\" is damaged: checksum mismatch");
}
