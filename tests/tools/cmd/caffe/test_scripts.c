/* Caffe's Python tools that need no images: draw_net.py, summarize.py, train.py; and
 * resize_and_crop_images.py. Tests tools/cmd/caffe/ and tools/flags/train_py.c. */
#include "fixture.h"

#include "base/text/text.h"
#include "data/decode.h"

/* ---- draw_net.py ---- */

TEST(a_prototxt_is_drawn_without_its_data)
{
    SH_OK("draw_net.py $SRC/models/lenet/train_val.prototxt lenet.svg");
    CHECK_HAS(read_file("lenet.svg"), "<svg ");
    CHECK_HAS(read_file("lenet.svg"), ">Convolution · 5 20</text>");
    SH_OK("draw_net.py $SRC/models/lenet/train_val.prototxt lenet.html --rankdir=TB");
    CHECK_HAS(read_file("lenet.html"), "<!DOCTYPE html>");
}

TEST(a_phase_and_multipliers_can_be_asked_for)
{
    SH_OK("draw_net.py --phase TRAIN --display_lrm "
          "$SRC/models/lenet/train_val.prototxt out.dot");
    CHECK_HAS(read_file("out.dot"), "rankdir=LR;");
    CHECK_HAS(read_file("out.dot"), "Convolution\\n5 20 lr 1, 2\"");
    CHECK_HAS(read_file("out.dot"), "InnerProduct\\nlr 1, 2\"");
    CHECK(strstr(read_file("out.dot"), "Accuracy") == NULL);
    SH_OK("draw_net.py --phase TEST $SRC/models/lenet/train_val.prototxt out.dot");
    CHECK_HAS(read_file("out.dot"), "Accuracy");
    CHECK(strstr(read_file("out.dot"), "lr 1") == NULL);
}

/* Graphviz need not be here: what stands in its place tells what it was asked. */
TEST(other_formats_are_left_to_graphviz)
{
    SH_OK(
        "mkdir bin; printf '#!/bin/sh\\necho \"$1\"; cat' >bin/dot; chmod +x bin/dot; "
        "PATH=$PWD/bin:$PATH draw_net.py $SRC/models/lenet/deploy.prototxt l.png");
    CHECK_HAS(read_file("l.png"), "-Tpng\ndigraph net {\nrankdir=LR;");
    SH_FAILS("drawing a .png needs Graphviz",
             "printf '#!/bin/sh\\nexit 1' >bin/dot; PATH=$PWD/bin:$PATH "
             "draw_net.py $SRC/models/lenet/deploy.prototxt none.png");
    CHECK(!file_exists("none.png"));
}

TEST(what_cannot_be_drawn_is_told)
{
    SH_FAILS("picture: the name must end in .svg",
             "draw_net.py $SRC/models/lenet/deploy.prototxt picture");
    SH_FAILS("missing.prototxt", "draw_net.py missing.prototxt out.svg");
    SH_FAILS("--rankdir is TB, BT, LR or RL",
             "draw_net.py --rankdir up $SRC/models/lenet/deploy.prototxt out.svg");
    SH_FAILS("--phase is ALL, TRAIN or TEST",
             "draw_net.py --phase all $SRC/models/lenet/deploy.prototxt out.svg");
}

/* ---- summarize.py ---- */

TEST(a_prototxt_is_listed_layer_by_layer)
{
    SH_OK("summarize.py $SRC/models/lenet/train_val.prototxt");
    CHECK_HAS(ran.out,
              "conv1    Convolution     (, x2) data       -> conv1       5 20\n");
    CHECK_HAS(ran.out,
              "pool1    Pooling                conv1      -> pool1       2/2\n");
    CHECK_HAS(ran.out, "-> accuracy*");
    SH_OK("summarize.py -w 6 $SRC/models/lenet/train_val.prototxt");
    CHECK_HAS(ran.out, "conv1 Convolution (, x2) data -> conv1 5 20\n");
}

TEST(loose_ends_and_settings_of_a_net_are_marked)
{
    write_file(
        "net.prototxt",
        "layer { name: \"c\" type: \"Convolution\" bottom: \"nothing\" top: \"c\"\n"
        "  param { name: \"w\" lr_mult: 0 decay_mult: 0.5 }\n"
        "  convolution_param { num_output: 8 group: 4 kernel_size: 3 pad: 1\n"
        "    stride: 2 } }\n"
        "layer { name: \"p\" type: \"Python\" bottom: \"c\" top: \"p\"\n"
        "  loss_weight: 0.5 python_param { module: \"m\" layer: \"L\" } }\n");
    SH_OK("firecaffe summarize net.prototxt");
    CHECK_STR(ran.out, "c Convolution (w x0 Dx0.5) nothing? -> c        3/2+1 8/4\n"
                       "p m.L                      c        -> 0.5 * p*\n");
    SH_FAILS("--max_width must be", "summarize.py --max-width 0 net.prototxt");
    SH_FAILS("nowhere.prototxt", "summarize.py nowhere.prototxt");
}

TEST(layers_without_a_type_are_listed_and_drawn_too)
{
    write_file(
        "net.prototxt",
        "layer { name: \"a\" top: \"t\" python_param { layer: \"L\" } }\n"
        "layer { name: \"b\" type: \"Python\" python_param { layer: \"L\" } }\n");
    SH_OK("firecaffe summarize net.prototxt");
    CHECK_STR(ran.out, "a      -> t*\nb .L   -> \n");
    SH_OK("firecaffe draw net.prototxt net.svg");
    SH_FAILS("type: \"...\" is missing", "firecaffe net net.prototxt");
    SH_FAILS("Python", "firecaffe net net.prototxt --shape t=1,2");
}

/* ---- train.py ---- */

TEST(train_py_trains_and_tells_the_time_of_layers)
{
    make_training();
    SH_OK("train.py --solver solver.prototxt --timing");
    CHECK_HAS(ran.err, "forw   1       ip : ");
    CHECK_HAS(ran.err, "back   1       ip : ");
    CHECK_HAS(ran.err, "solver total: ");
    CHECK_HAS(ran.err, "allreduce: 0.00");
    SH_OK("train.py --snapshot snap_iter_20.solverstate --solver solver.prototxt");
    CHECK_HAS(ran.err, "Resuming from snap_iter_20.solverstate");
}

TEST(train_py_takes_a_list_of_gpus)
{
    make_training();
    SH_FAILS("--gpus: write numbers", "train.py --solver solver.prototxt --gpus");
    SH_FAILS("--gpus is given twice",
             "train.py --gpus 0 --solver solver.prototxt --gpus 1");
    /* Whether there are GPUs or not, the numbers arrive as one list. */
    sh("train.py --solver solver.prototxt --gpus 0 7 --help");
    CHECK_EQ(ran.code, 0);
    CHECK_HAS(ran.out, "usage: firecaffe train");
    SH_FAILS("unknown flag --gpus", "firecaffe train --gpus 0");
    SH_FAILS("Need a solver definition", "train.py --gpus 0 1");
}

/* ---- resize_and_crop_images.py ---- */

/* Four stripes, each a quarter of the longer side: grey 10, 90, 170, 250. */
static void write_stripes(const char *name, int height, int width)
{
    FILE *f = fopen(test_path(name), "wb");

    CHECK(f != NULL);
    fprintf(f, "P5 %d %d 255\n", width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            fputc(10 + 80 * (height > width ? 4 * y / height : 4 * x / width), f);
    CHECK(fclose(f) == 0);
}

static void check_square(const char *name)
{
    fire_workspace_t scratch = {0};
    fire_pixels_t    p;

    CHECK_OK(
        fire_image_file_decode(test_path(name), FIRE_COLOR_GRAY, 0, 0, &scratch, &p));
    CHECK_EQ(p.extent.height, 8);
    CHECK_EQ(p.extent.width, 8);
    CHECK_EQ(p.bytes[4 * p.step_y + p.step_x],
             p.bytes[p.step_y + p.step_x] + (strstr(name, "tall") ? 80 : 0));
    CHECK_EQ(p.bytes[p.step_y + p.step_x], 90);
    CHECK_EQ(p.bytes[6 * p.step_y + 6 * p.step_x], 170);
    fire_workspace_fini(&scratch);
}

TEST(images_become_squares_of_their_middle)
{
#ifndef FIRE_HAVE_PNG
    test_skip("no PNG in this build");
#endif
    SH_OK("mkdir -p in/a");
    write_stripes("in/a/tall.png", 32, 16); /* known by its contents, not its name */
    write_stripes("in/wide.png", 16, 32);
    write_file("list.txt", "a/tall.png 3\nin/wide.png\n\nbroken.png\n");
    SH_OK(
        "resize_and_crop_images.py --num_clients=2 --image_lib=opencv --input=list.txt "
        "--input_folder=in --output_folder=out --output_side_length=8");
    CHECK_HAS(ran.out, "2 images written to out, 1 skipped\n");
    CHECK_HAS(ran.err, "in/broken.png");
    check_square("out/a/tall.png");
    check_square("out/wide.png");
}

TEST(wrong_use_of_resize_is_explained)
{
    write_file("list.txt", "broken.png\n");
    SH_FAILS("--input is needed", "firecaffe resize");
    SH_FAILS("--output_folder is needed",
             "firecaffe resize --input list.txt --input_folder in");
    SH_FAILS("none of its 1 images",
             "firecaffe resize --input list.txt --input_folder . "
             "--output_folder out");
    SH_FAILS("missing.txt", "firecaffe resize --input missing.txt --input_folder . "
                            "--output_folder out");
    SH_FAILS("--output_side_length must be",
             "firecaffe resize --input list.txt --input_folder . --output_folder out "
             "--output_side_length 0");
}
