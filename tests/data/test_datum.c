/* Records of databases: encoded, decoded, damaged. */
#include "data/datum.h"

#include "base/alloc.h"
#include "caffe.pb-c.h"
#include "test.h"

static const uint8_t six[] = {1, 2, 3, 4, 5, 6};

static fire_status_t parse(const char *bytes, size_t n, fire_datum_t *d)
{
    return fire_datum_parse((const uint8_t *)bytes, n, d);
}

TEST(a_written_datum_is_read_back)
{
    fire_datum_t d   = {.channels = 1, .height = 2, .width = 3, .label = -5};
    fire_str_t   out = {0};
    fire_datum_t back;

    d.data  = six;
    d.ndata = 6;
    CHECK_OK(fire_datum_write(&d, NULL, &out));
    CHECK_OK(parse(out.text, (size_t)out.n, &back));
    CHECK(back.channels == 1 && back.height == 2 && back.width == 3);
    CHECK_EQ(back.label, -5);
    CHECK(back.ndata == 6 && memcmp(back.data, six, 6) == 0 && !back.encoded);
    fire_str_fini(&out);
}

TEST(floats_are_read_one_by_one_and_packed)
{
    const float  want[]   = {1.5f, -2};
    const char   packed[] = "\x08\x01\x10\x01\x18\x02\x32\x08\0\0\xc0\x3f\0\0\0\xc0";
    fire_datum_t d        = {.channels = 1, .height = 1, .width = 2, .nfloat = 2}, back;
    fire_str_t   out      = {0};
    float        got[2];

    CHECK_OK(fire_datum_write(&d, want, &out));
    CHECK_OK(parse(out.text, (size_t)out.n, &back));
    CHECK_EQ(back.nfloat, 2);
    fire_datum_floats(&back, got);
    CHECK(memcmp(got, want, sizeof(want)) == 0);
    fire_str_fini(&out);

    CHECK_OK(parse(packed, sizeof(packed) - 1, &back));
    memset(got, 0, sizeof(got));
    fire_datum_floats(&back, got);
    CHECK(memcmp(got, want, sizeof(want)) == 0);
}

TEST(protobuf_s_own_reader_and_ours_agree)
{
    fire_datum_t  d   = {.channels = 3, .height = 1, .width = 2, .label = 300};
    fire_str_t    out = {0};
    Caffe__Datum *theirs;

    d.data  = six;
    d.ndata = 6;
    CHECK_OK(fire_datum_write(&d, NULL, &out));
    theirs = caffe__datum__unpack(NULL, (size_t)out.n, (uint8_t *)out.text);
    CHECK(theirs != NULL && theirs->channels == 3 && theirs->label == 300);
    CHECK(theirs->data.len == 6 && memcmp(theirs->data.data, six, 6) == 0);
    caffe__datum__free_unpacked(theirs, NULL);
    fire_str_fini(&out);
}

TEST(unknown_fields_are_skipped)
{
    const char bytes[] = "\xf8\x06\x07" /* field 111: 7 */
                         "\x08\x01\x10\x01\x18\x01\x22\x01z"
                         "\x7a\x02hi\x79zzzzzzzz\x7dyyyy"; /* field 15, three ways */
    fire_datum_t d;

    CHECK_OK(parse(bytes, sizeof(bytes) - 1, &d));
    CHECK(d.ndata == 1 && d.data[0] == 'z');
}

TEST(damaged_datums_are_refused)
{
    fire_datum_t d;

    CHECK_FAILS(parse("", 0, &d), FIRE_ERR_PARSE, "damaged");
    CHECK_FAILS(parse("\x08", 1, &d), FIRE_ERR_PARSE, "damaged");       /* no value */
    CHECK_FAILS(parse("\x22\x05xx", 4, &d), FIRE_ERR_PARSE, "damaged"); /* too short */
    CHECK_FAILS(parse("\x0b\x01", 2, &d), FIRE_ERR_PARSE, "damaged");   /* a group */
    CHECK_FAILS(parse("\x00\x01", 2, &d), FIRE_ERR_PARSE, "damaged");   /* field 0 */
    CHECK_FAILS(parse("\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, &d),
                FIRE_ERR_PARSE, "damaged"); /* a number without end */
    CHECK_FAILS(parse("\x08\x01\x10\x02\x18\x02\x22\x03xyz", 11, &d), FIRE_ERR_PARSE,
                "1 x 2 x 2 with 3 values");
    CHECK_FAILS(parse("\x38\x01", 2, &d), FIRE_ERR_PARSE, "without data");
    CHECK_FAILS(parse("\x32\x03xyz", 5, &d), FIRE_ERR_PARSE, "damaged"); /* 3/4 float */
}

/* 2^16 x 2^16 x 2^32 must not become a small number. */
TEST(sizes_that_overflow_are_refused)
{
    const char   bytes[] = "\x08\x80\x80\x80\x80\x04\x10\x80\x80\x80\x80\x04"
                           "\x18\x80\x80\x80\x80\x04\x22\x01z";
    fire_datum_t d;

    CHECK_FAILS(parse(bytes, sizeof(bytes) - 1, &d), FIRE_ERR_PARSE, "1 values");
}
