/* NumPy arrays in files. */
#include "model/npy.h"

#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

static const char *tmp_path(void)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/a.npy", test_tmpdir());
    return path;
}

/* A version 1 file with this header and these elements. */
static size_t make(char *file, const char *header, const void *data, size_t n)
{
    size_t len = strlen(header);

    memcpy(file, "\x93NUMPY\1\0", 8);
    file[8] = (char)(len & 0xFF);
    file[9] = (char)(len >> 8);
    memcpy(file + 10, header, len);
    memcpy(file + 10 + len, data, n);
    return 10 + len + n;
}

static void check_refused(const char *header, size_t bytes, fire_status_t status,
                          const char *message)
{
    char       file[2048], data[64] = {0};
    size_t     n = make(file, header, data, bytes);
    fire_npy_t npy;

    CHECK_FAILS(fire_npy_parse(file, n, "x.npy", &npy), status, message);
}

TEST(what_is_saved_is_loaded)
{
    const float   data[] = {0, 1.5f, -2, 3, NAN, INFINITY};
    const int64_t dim[]  = {2, 3};
    fire_npy_t    npy;

    CHECK_OK(fire_npy_save(tmp_path(), 2, dim, data));
    CHECK_OK(fire_npy_load(tmp_path(), &npy));
    CHECK_EQ(npy.ndim, 2);
    CHECK_EQ(npy.dim[0], 2);
    CHECK_EQ(npy.dim[1], 3);
    CHECK_EQ(npy.count, 6);
    CHECK(memcmp(npy.data, data, sizeof(data)) == 0);
    fire_npy_fini(&npy);
}

TEST(shapes_of_any_rank_come_back)
{
    static const float data[64];
    int64_t            dim[FIRE_MAX_DIMS];
    fire_npy_t         npy;

    for (int i = 0; i < FIRE_MAX_DIMS; i++)
        dim[i] = i < 6 ? 2 : 1;
    for (int ndim = 0; ndim <= FIRE_MAX_DIMS; ndim++) {
        CHECK_OK(fire_npy_save(tmp_path(), ndim, dim, data));
        CHECK_OK(fire_npy_load(tmp_path(), &npy));
        CHECK_EQ(npy.ndim, ndim);
        CHECK_EQ(npy.count, 1 << (ndim < 6 ? ndim : 6));
        fire_npy_fini(&npy);
    }
}

TEST(an_array_without_elements_is_fine)
{
    const int64_t dim[] = {3, 0};
    fire_npy_t    npy;

    CHECK_OK(fire_npy_save(tmp_path(), 2, dim, NULL));
    CHECK_OK(fire_npy_load(tmp_path(), &npy));
    CHECK_EQ(npy.count, 0);
    CHECK_EQ(npy.dim[0], 3);
    fire_npy_fini(&npy);
}

TEST(the_file_is_laid_out_as_numpy_does)
{
    const int64_t dim[]  = {2};
    const float   data[] = {1, 2};
    char         *bytes;
    size_t        n;

    CHECK_OK(fire_npy_save(tmp_path(), 1, dim, data));
    CHECK_OK(fire_file_read(tmp_path(), &bytes, &n));
    CHECK_EQ(n, 128 + 8);
    CHECK(memcmp(bytes, "\x93NUMPY\1\0\x76\0", 10) == 0);
    CHECK(memcmp(bytes + 10,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 57) == 0);
    CHECK_EQ(bytes[127], '\n');
    fire_free(bytes);
}

#define CHECK_DTYPE(descr, type)                                               \
    do {                                                                       \
        const type values_[] = {3, 0, 1};                                      \
        char       file_[512];                                                 \
        size_t     n_ = make(file_,                                            \
                             "{'descr': '" descr "', 'fortran_order': False, " \
                                 "'shape': (3,), }",                               \
                             values_, sizeof(values_));                        \
        fire_npy_t npy_;                                                       \
        CHECK_OK(fire_npy_parse(file_, n_, "x.npy", &npy_));                   \
        CHECK_EQ(npy_.count, 3);                                               \
        CHECK_NEAR(npy_.data[0], 3, 0);                                        \
        CHECK_NEAR(npy_.data[2], 1, 0);                                        \
        fire_npy_fini(&npy_);                                                  \
    } while (0)

TEST(elements_of_other_types_become_floats)
{
    CHECK_DTYPE("<f4", float);
    CHECK_DTYPE("<f8", double);
    CHECK_DTYPE("|u1", uint8_t);
    CHECK_DTYPE("|i1", int8_t);
    CHECK_DTYPE("<i4", int32_t);
    CHECK_DTYPE("<i8", int64_t);
}

TEST(headers_of_version_two_and_python_two_are_read)
{
    static const char file[] =
        "\x93NUMPY\2\0\x3A\0\0\0"
        "{\"shape\": (2L, 1L), 'fortran_order': False, 'descr':'|u1'}"
        "\5\6";
    fire_npy_t npy;

    CHECK_OK(fire_npy_parse(file, sizeof(file) - 1, "x.npy", &npy));
    CHECK_EQ(npy.ndim, 2);
    CHECK_NEAR(npy.data[1], 6, 0);
    fire_npy_fini(&npy);
}

TEST(fortran_order_is_refused_unless_it_makes_no_difference)
{
    fire_npy_t npy;
    char       file[512];
    size_t     n =
        make(file, "{'descr': '|u1', 'fortran_order': True, 'shape': (2,)}", "\1\2", 2);

    CHECK_OK(fire_npy_parse(file, n, "x.npy", &npy));
    fire_npy_fini(&npy);
    check_refused("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", 8,
                  FIRE_ERR_UNSUPPORTED, "x.npy: the array is in Fortran order");
}

TEST(damaged_files_are_refused_with_a_reason)
{
    fire_npy_t npy;

    CHECK_FAILS(fire_npy_parse("hello world!!", 13, "x.npy", &npy), FIRE_ERR_PARSE,
                "x.npy: not a .npy file");
    CHECK_FAILS(fire_npy_parse("", 0, "x.npy", &npy), FIRE_ERR_PARSE,
                "not a .npy file");
    CHECK_FAILS(fire_npy_parse("\x93NUMPY\1\0\xFF\xFFxx", 12, "x.npy", &npy),
                FIRE_ERR_PARSE, "cut off");
    CHECK_FAILS(fire_npy_parse("\x93NUMPY\x09\0\2\0xx", 12, "x.npy", &npy),
                FIRE_ERR_UNSUPPORTED, "version 9");
    check_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7,
                  FIRE_ERR_PARSE, "2 elements of 4 bytes expected, 7 bytes found");
    check_refused("{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", 8,
                  FIRE_ERR_UNSUPPORTED, "\"<c8\" are not read here");
    check_refused("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8,
                  FIRE_ERR_UNSUPPORTED, "astype");
    check_refused("{'descr': '<f4', 'shape': (2,)}", 8, FIRE_ERR_PARSE,
                  "descr, fortran_order and shape expected");
    check_refused("{'descr': '<f4' 'shape': (2,)}", 8, FIRE_ERR_PARSE, ", or }");
    check_refused("{'descr': '<f4', 'x': 1}", 8, FIRE_ERR_PARSE, "a known key");
    check_refused("{'shape': (-2,)}", 8, FIRE_ERR_PARSE, "a dimension");
    check_refused("{'shape': (2 3)}", 8, FIRE_ERR_PARSE, ", or )");
    check_refused("{'shape': (99999999999999999999,)}", 8, FIRE_ERR_PARSE, "smaller");
    check_refused("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, "
                  "4294967296)}",
                  8, FIRE_ERR_PARSE, "a smaller shape");
    check_refused(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904"
        ",)}",
        8, FIRE_ERR_PARSE, "cut off");
    check_refused("{'descr': '<f4", 0, FIRE_ERR_PARSE, "a closing quote");
    check_refused("{'fortran_order': Maybe}", 0, FIRE_ERR_PARSE, "True or False");
    check_refused("", 8, FIRE_ERR_PARSE, "{ expected");
}

TEST(a_missing_file_is_named)
{
    fire_npy_t npy;

    CHECK_FAILS(fire_npy_load("/no/x.npy", &npy), FIRE_ERR_IO, "/no/x.npy");
}
