/* firecaffe convert annoset and image-sizes: a folder in the shape of PASCAL VOC becomes a
 * detector. Tests tools/cmd/convert.c and src/data/convert/annoset.c. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random/rng.h"

enum { SIZE = 32, SIDE = 14 };

static void put_xml(int i, const char *name, int x, int y)
{
    char path[64], text[512];

    snprintf(path, sizeof(path), "voc/Annotations/%03d.xml", i);
    snprintf(
        text, sizeof(text),
        "<annotation><size><width>%d</width><height>%d</height></size><object><name>%s"
        "</name><difficult>0</difficult><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d"
        "</xmax><ymax>%d</ymax></bndbox></object></annotation>\n",
        SIZE, SIZE, name, x, y, x + SIDE, y + SIDE);
    write_file(path, text);
}

/* A red or a blue square on grey noise. */
static void put_image(int i)
{
    fire_rng_key_t key = fire_rng_key(11, FIRE_RNG_TEST, 0, (uint64_t)i);
    int            x = (int)fire_rng_below(key, 0, SIZE - SIDE), kind = i % 2;
    int            y = (int)fire_rng_below(key, 1, SIZE - SIDE);
    char           path[64];
    FILE          *f;

    snprintf(path, sizeof(path), "voc/JPEGImages/%03d.ppm", i);
    f = fopen(test_path(path), "wb");
    CHECK(f != NULL);
    fprintf(f, "P6\n%d %d\n255\n", SIZE, SIZE);
    for (int k = 0; k < SIZE * SIZE; k++) {
        int  px = k % SIZE, py = k / SIZE;
        bool in  = px >= x && px < x + SIDE && py >= y && py < y + SIDE;
        int  low = 100 + (int)fire_rng_below(key, (uint64_t)k + 2, 40);

        fputc(in ? (kind == 0 ? 230 : 20) : low, f);
        fputc(in ? 30 : low, f);
        fputc(in ? (kind == 0 ? 20 : 230) : low, f);
    }
    CHECK(fclose(f) == 0);
    put_xml(i, kind == 0 ? "red" : "blue", x, y);
}

static void make_voc(int n)
{
    SH_OK("mkdir -p voc/JPEGImages voc/Annotations");
    for (int i = 0; i < n; i++)
        put_image(i);
    SH_OK("for i in $(seq 0 %d); do n=$(printf %%03d $i); "
          "echo JPEGImages/$n.ppm Annotations/$n.xml; done >all.txt; "
          "head -n %d all.txt >train.txt; tail -n 16 all.txt >test.txt",
          n - 1, n - 16);
    write_file(
        "map.prototxt",
        "item { name: \"none_of_the_above\" label: 0 display_name: \"background\" }\n"
        "item { name: \"red\" label: 1 }\nitem { name: \"blue\" label: 2 }\n");
}

TEST(a_folder_of_annotated_images_becomes_a_detector)
{
    const char *last = NULL;

    make_voc(112);
    SH_OK("convert_annoset --anno_type=detection --label_map_file=map.prototxt "
          "--check_label --encode_type=png voc train.txt train_lmdb");
    SH_OK(
        "firecaffe convert annoset --label_map_file map.prototxt --encode_type png voc "
        "test.txt test_lmdb");
    SH_OK("cp $SRC/tests/tools/cmd/ssd.prototxt net.prototxt");
    write_file(
        "solver.prototxt",
        "net: \"net.prototxt\" base_lr: 0.01 lr_policy: \"onecycle\" momentum: 0.9\n"
        "max_iter: 300 test_iter: 2 test_interval: 100 display: 100\n"
        "eval_type: \"detection\" snapshot_prefix: \"ssd\" random_seed: 1\n"
        "solver_mode: CPU\n");
    SH_OK("firecaffe train --solver solver.prototxt");
    for (const char *at = ran.err; (at = strstr(at, "detection_eval = ")) != NULL; at++)
        last = at;
    CHECK(last != NULL);
    if (!(strtod(last + 17, NULL) > 0.8))
        test_fail(__FILE__, __LINE__, "mAP is %.6s", last + 17);
}

TEST(sizes_are_written_by_name)
{
    make_voc(17);
    SH_OK("get_image_size voc test.txt sizes.txt");
    SH_OK("head -n 1 sizes.txt");
    CHECK_STR(ran.out, "001 32 32\n");
    SH_OK("test $(wc -l <sizes.txt) = 16");
}

TEST(what_an_annoset_lacks_is_told)
{
    make_voc(17);
    SH_FAILS("needs --label_map_file", "firecaffe convert annoset voc all.txt db");
    write_file("half.prototxt", "item { name: \"red\" label: 1 }\n");
    SH_FAILS(
        "voc/Annotations/001.xml: the label map half.prototxt has no class \"blue\"",
        "firecaffe convert annoset voc all.txt db --label_map_file half.prototxt");
    CHECK_EQ(count_files("db*"), 0);
    write_file("twice.prototxt", "item { name: \"red\" label: 1 }\n"
                                 "item { name: \"blue\" label: 1 }\n");
    SH_FAILS(
        "two items have the name \"blue\" or the label 1",
        "convert_annoset voc all.txt db --label_map_file twice.prototxt --check_label");
    write_file("bad.txt", "JPEGImages/000.ppm\n");
    SH_FAILS("bad.txt, line 1: an image and its annotation must stand here",
             "firecaffe convert annoset voc bad.txt db --label_map_file map.prototxt");
}
