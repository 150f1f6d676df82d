/* firecaffe run: arrays in, arrays out. */
#include <math.h>
#include <stdlib.h>
#include "fixture.h"
#include "model/npy.h"

static const char net_text[] =
    "force_backward: true\n"
    "layer { name: \"in\" type: \"Input\" top: \"data\"\n"
    "  input_param { shape { dim: 1 dim: 2 } } }\n"
    "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"data\" top: \"dir/ip\"\n"
    "  inner_product_param { num_output: 1 weight_filler { type: \"constant\" value: 3 "
    "}\n"
    "  bias_filler { type: \"constant\" value: 1 } } }\n";

static void save(const char *name, int n, int m, const float *x)
{
    int64_t dim[] = {n, m};

    CHECK_OK(fire_npy_save(test_path(name), 2, dim, x));
}

static void check_array(const char *name, int count, const float *want)
{
    fire_npy_t a;

    CHECK_OK(fire_npy_load(test_path(name), &a));
    CHECK_EQ(a.count, count);
    for (int i = 0; i < count; i++)
        CHECK_NEAR(a.data[i], want[i], 0);
    fire_npy_fini(&a);
}

TEST(arrays_go_through_a_net_and_back)
{
    static const float x[] = {1, 2, 10, 20, 0, 1}, dy[] = {1, 0, 2};

    write_file("net.prototxt", net_text);
    save("x.npy", 3, 2, x);
    save("dy.npy", 3, 1, dy);
    SH_OK("firecaffe run --model net.prototxt --in data=x.npy --backward "
          "--topdiff dir/ip=dy.npy --params --out o");
    CHECK_HAS(ran.out, "pass 0  loss 0\n");
    check_array("o/data.npy", 6, x);
    check_array("o/dir/ip.npy", 3, (float[]){10, 91, 4});
    check_array("o/data.diff.npy", 6, (float[]){3, 3, 0, 0, 6, 6});
    check_array("o/dir/ip.diff.npy", 3, dy);
    check_array("o/ip.0.diff.npy", 2, (float[]){1, 4});
    check_array("o/ip.1.diff.npy", 1, (float[]){3});
    check_array("o/ip.0.npy", 2, (float[]){3, 3});
}

TEST(several_passes_carry_statistics_forward)
{
    static const float x[] = {1, 3};
    fire_npy_t         a;

    write_file(
        "net.prototxt",
        "layer { name: \"in\" type: \"Input\" top: \"data\" input_param { shape { "
        "dim: 2 dim: 1 } } }\n"
        "layer { name: \"bn\" type: \"BatchNorm\" bottom: \"data\" top: \"data\" }\n");
    save("x.npy", 2, 1, x);
    SH_OK("firecaffe run --model net.prototxt --phase TRAIN --in data=x.npy --params "
          "--iterations 3 --out o");
    CHECK_HAS(ran.out, "pass 2 ");
    /* Each pass starts from x, though the net works in place; the sum of weights is
     * 1 + 0.999 + 0.999^2, that of means twice as much. */
    CHECK_OK(fire_npy_load(test_path("o/bn.0.npy"), &a));
    CHECK_NEAR(a.data[0], 2 * 2.997001, 1e-5);
    fire_npy_fini(&a);
    CHECK_OK(fire_npy_load(test_path("o/bn.2.npy"), &a));
    CHECK_NEAR(a.data[0], 2.997001, 1e-5);
    fire_npy_fini(&a);
}

TEST(a_gradient_of_another_size_is_refused)
{
    static const float x[] = {1, 2};

    write_file("net.prototxt", net_text);
    save("x.npy", 1, 2, x);
    SH_FAILS("has 2 numbers, blob \"dir/ip\" 1",
             "firecaffe run --model net.prototxt --in data=x.npy --backward "
             "--topdiff dir/ip=x.npy --out o");
    SH_FAILS("--topdiff needs --backward",
             "firecaffe run --model net.prototxt --topdiff dir/ip=x.npy --out o");
    SH_FAILS("--iterations must be at least 1",
             "firecaffe run --model net.prototxt --iterations=-3 --out o");
    CHECK(!file_exists("o"));
}
