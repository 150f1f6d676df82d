/* SHA-256 of published examples. */
#include "base/sha256.h"

#include "test.h"

static void check_sha256(const char *text, size_t repeat, const char *want)
{
    fire_sha256_t s;
    uint8_t       digest[FIRE_SHA256_SIZE];
    char          hex[65];

    fire_sha256_init(&s);
    for (size_t i = 0; i < repeat; i++)
        fire_sha256_add(&s, text, strlen(text));
    fire_sha256_final(&s, digest);
    fire_sha256_hex(digest, hex);
    CHECK_STR(hex, want);
}

TEST(sha256_gives_the_published_values)
{
    check_sha256("", 1,
                 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sha256("abc", 1,
                 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_sha256("a", 1000000,
                 "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* With the processor's instructions, where it has them, and without. */
TEST(sha256_does_not_depend_on_the_pieces_or_the_processor)
{
    uint8_t text[300], digest[2][FIRE_SHA256_SIZE];

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 7 + i / 50);
    for (size_t n = 0; n <= sizeof(text); n++)
        for (size_t first = 0; first <= n; first += 13) {
            fire_sha256_t whole, parts;

            fire_sha256_init(&whole);
            fire_sha256_add(&whole, text, n);
            fire_sha256_final(&whole, digest[0]);
            fire_sha256_init(&parts);
            parts.fast = false;
            fire_sha256_add(&parts, text, first);
            fire_sha256_add(&parts, text + first, n - first);
            fire_sha256_final(&parts, digest[1]);
            CHECK(memcmp(digest[0], digest[1], FIRE_SHA256_SIZE) == 0);
        }
}

TEST(crc32c_gives_the_published_values)
{
    uint8_t zeros[32] = {0};

    CHECK_EQ(fire_crc32c(0, "123456789", 9), 0xE3069283);
    CHECK_EQ(fire_crc32c(0, zeros, 32), 0x8A9136AA);
    CHECK_EQ(fire_crc32c(0, "", 0), 0);
}

TEST(crc32c_goes_on_where_it_stopped)
{
    CHECK_EQ(fire_crc32c(fire_crc32c(0, "1234", 4), "56789", 5), 0xE3069283);
}
