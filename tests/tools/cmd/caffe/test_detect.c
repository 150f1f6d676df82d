/* detect and predict, by these names and as detect.py and classify.py. The net says the
 * mean of each channel of its input, so that scores can be told beforehand. */
#include "fixture.h"

#include "model/npy.h"

static const char net_text[] =
    "layer { name: \"data\" type: \"Input\" top: \"data\"\n"
    "  input_param { shape { dim: 3 dim: 3 dim: 4 dim: 4 } } }\n"
    "layer { name: \"mean\" type: \"Pooling\" bottom: \"data\" top: \"mean\"\n"
    "  pooling_param { pool: AVE global_pooling: true } }\n";

#define NET "--model_def net.prototxt --pretrained_model w_iter_0.caffemodel "

/* Left half red, right half blue, at 255 and 51. */
static void write_picture(const char *name, int side)
{
    FILE *f = fopen(test_path(name), "wb");

    CHECK(f != NULL);
    fprintf(f, "P6 %d %d 255\n", side, side);
    for (int i = 0; i < side * side; i++)
        fwrite(i % side < side / 2 ? "\xFF\0\0" : "\0\0\x33", 1, 3, f);
    CHECK(fclose(f) == 0);
}

static void set_up(void)
{
    write_file("net.prototxt", net_text);
    write_file("solver.prototxt", "net: \"net.prototxt\"\nmax_iter: 0\nbase_lr: 1\n"
                                  "lr_policy: \"fixed\"\nsnapshot_prefix: \"w\"\n");
    SH_OK("caffe train -solver solver.prototxt");
    write_picture("a.ppm", 8);
    write_picture("b.ppm", 8);
}

static fire_npy_t load(const char *name, int64_t rows)
{
    fire_npy_t a;

    CHECK_OK(fire_npy_load(test_path(name), &a));
    CHECK(a.ndim == 2 && a.dim[0] == rows && a.dim[1] == 3);
    return a;
}

/* ---- detect ---- */

TEST(windows_of_a_list_are_scored)
{
    set_up();
    write_file("w.csv", "filename,ymin,xmin,ymax,xmax\n"
                        "a.ppm,0,0,8,4\na.ppm,2,4,6,8\nb.ppm,0,0,8,8\nb.ppm,0,4,4,8\n");
    SH_OK("detect.py " NET "--crop_mode=list --context_pad 0 w.csv out.csv");
    CHECK_HAS(ran.out, "Processed 4 windows in ");
    CHECK_STR(read_file("out.csv"),
              "filename,ymin,xmin,ymax,xmax,class0,class1,class2\n"
              "a.ppm,0,0,8,4,0,0,255\na.ppm,2,4,6,8,51,0,0\n"
              "b.ppm,0,0,8,8,25.5,0,127.5\nb.ppm,0,4,4,8,51,0,0\n");
}

TEST(scores_follow_mean_scales_and_order_of_channels)
{
    set_up();
    write_file("w.csv", "filename,ymin,xmin,ymax,xmax\na.ppm,0,0,8,4\n");
    SH_OK("detect.py " NET "--crop_mode list --context_pad 0 --channel_swap 0,1,2 "
          "--raw_scale 100 --input_scale 0.5 w.csv out.csv");
    CHECK_HAS(read_file("out.csv"), "a.ppm,0,0,8,4,50,0,0\n");
    SH_OK("firecaffe run --model net.prototxt --out r >/dev/null; "
          "cp r/mean.npy mean.npy; " /* 3 x 3 x 1 x 1: no mean */
          "! detect.py " NET
          "--crop_mode list --mean_file mean.npy w.csv out.csv 2>err; "
          "grep -q 'mean.npy is not a mean' err");
}

TEST(a_context_shows_the_mean_where_there_is_no_image)
{
    set_up();
    write_file("w.csv", "filename,ymin,xmin,ymax,xmax\na.ppm,0,0,8,8\n");
    SH_OK("detect.py " NET "--crop_mode list --context_pad 1 w.csv out.csv");
    /* 17 pixels become 4: 2 x 2 of them show the image, the others 0. */
    CHECK_HAS(read_file("out.csv"), "a.ppm,0,0,8,8,6.375,0,31.875\n");
}

TEST(windows_are_looked_for_in_images_of_a_list)
{
    set_up();
    write_picture("c.ppm", 60);
    write_file("list.txt", "  c.ppm \n\n");
    if (sh("detect.py " NET "--context_pad 1 list.txt out.h5") != 0)
        CHECK_HAS(ran.err, "no HDF5");
    SH_OK("firecaffe detect " NET "--context_pad 0 list.txt out.csv");
    CHECK_HAS(read_file("out.csv"), "\nc.ppm,0,0,60,60,25.5,0,127.5\n");
    CHECK_HAS(read_file("out.csv"), "\nc.ppm,0,0,60,3");
}

TEST(wrong_windows_are_refused)
{
    set_up();
    write_file("w.csv", "filename,ymin,xmin,ymax,xmax\na.ppm,0,0,8,4\n"
                        "a.ppm,9,0,20,4\n");
    SH_FAILS("a.ppm: the window ymin 9, xmin 0, ymax 20, xmax 4 holds nothing",
             "detect.py " NET "--crop_mode list --context_pad 0 w.csv out.csv");
    CHECK(!file_exists("out.csv"));
    write_file("w.csv", "filename,ymin,xmin,ymax\na.ppm,0,0,8\n");
    SH_FAILS("w.csv: no column \"xmax\"",
             "detect.py " NET "--crop_mode list w.csv out.csv");
    write_file("w.csv", "filename,ymin,xmin,ymax,xmax\n");
    SH_FAILS("w.csv: holds no windows",
             "detect.py " NET "--crop_mode list w.csv out.csv");
    write_file("w.csv", "filename,ymin,xmin,ymax,xmax\nnet.prototxt,0,0,8,4\n");
    SH_FAILS("net.prototxt: ", "detect.py " NET "--crop_mode list w.csv out.csv");
    SH_FAILS("missing.csv", "detect.py " NET "--crop_mode list missing.csv out.csv");
    SH_FAILS("windows in a .csv go with --crop_mode list",
             "detect.py " NET "w.csv out.csv");
    SH_FAILS("--crop_mode is list or selective_search",
             "detect.py " NET "--crop_mode grid w.csv out.csv");
    SH_FAILS("--context_pad must be 0 to 1024",
             "detect.py " NET "--context_pad=-1 w.csv out.csv");
}

/* ---- predict ---- */

TEST(ten_parts_of_an_image_are_averaged)
{
    fire_npy_t a;

    set_up();
    SH_OK("classify.py " NET "--images_dim 8,8 a.ppm out.npy");
    a = load("out.npy", 1);
    /* Corners and mirror images are symmetric, and the middle has both halves. */
    CHECK_NEAR(a.data[0], 25.5, 1e-4);
    CHECK_NEAR(a.data[2], 127.5, 1e-4);
    fire_npy_fini(&a);
}

TEST(the_middle_alone_can_be_scored)
{
    fire_npy_t a;

    set_up();
    SH_OK("classify.py " NET "--center_only --images_dim=8,8 a.ppm out.npy");
    a = load("out.npy", 1);
    CHECK_NEAR(a.data[0], 25.5, 1e-4);
    fire_npy_fini(&a);
}

TEST(a_directory_of_images_gives_a_row_for_each)
{
    fire_npy_t a;

    set_up();
    SH_OK("mkdir d && cp a.ppm b.ppm d && cp net.prototxt d/c.txt && "
          "classify.py " NET "--images_dim 8,8 --ext ppm d out.npy");
    CHECK_HAS(ran.out, "Classified 2 images");
    a = load("out.npy", 2);
    CHECK_NEAR(a.data[5], 127.5, 1e-4);
    fire_npy_fini(&a);
    SH_FAILS("d/*.jpg: no image", "classify.py " NET "--images_dim 8,8 d out.npy");
}

TEST(an_array_of_images_can_be_scored)
{
    static const float value[2 * 4 * 4 * 3] = {[0] = 1};
    char               path[1024];
    fire_npy_t         a;

    set_up();
    snprintf(path, sizeof(path), "%s/in.npy", test_tmpdir());
    CHECK_OK(fire_npy_save(path, 4, (int64_t[]){2, 4, 4, 3}, value));
    SH_OK("classify.py " NET "--center_only --images_dim 4,4 in.npy out.npy");
    a = load("out.npy", 2);
    CHECK_NEAR(a.data[2], 255.0 / 16, 1e-4); /* red comes last */
    CHECK_NEAR(a.data[5], 0.0, 0.0);
    fire_npy_fini(&a);
    CHECK_OK(fire_npy_save(path, 3, (int64_t[]){8, 4, 3}, value));
    SH_FAILS("in.npy: must be images x height x width x 3",
             "classify.py " NET "--images_dim 4,4 in.npy out.npy");
}

TEST(a_net_without_room_for_images_or_without_output_is_refused)
{
    set_up();
    edit_file("net.prototxt", "dim: 3 dim: 3", "dim: 0 dim: 3");
    SH_FAILS("net.prototxt: the first blob must be an image",
             "classify.py " NET "--images_dim 8,8 a.ppm out.npy");
    write_file("net.prototxt",
               "layer { name: \"data\" type: \"Input\" top: \"data\"\n"
               "  input_param { shape { dim: 3 dim: 3 dim: 4 dim: 4 } } "
               "}\n"
               "layer { name: \"mean\" type: \"Silence\" bottom: "
               "\"data\" }\n");
    SH_FAILS("net.prototxt: the net has no output",
             "classify.py " NET "--images_dim 8,8 a.ppm out.npy");
    CHECK(!file_exists("out.npy"));
}

TEST(a_folder_may_hold_brackets_in_its_name)
{
    set_up();
    SH_OK("mkdir 'photos [2019]' && cp a.ppm b.ppm 'photos [2019]'");
    SH_OK("classify.py " NET "--images_dim 8,8 --ext ppm 'photos [2019]' out.npy");
    CHECK_HAS(ran.out, "Classified 2 images");
    SH_FAILS("photos [2019]/*.jpg: no image",
             "classify.py " NET "--images_dim 8,8 'photos [2019]' out.npy");
}

TEST(wrong_use_of_predict_is_explained)
{
    set_up();
    SH_FAILS("--model_def FILE is required", "classify.py a.ppm out.npy");
    SH_FAILS("--pretrained_model FILE is required",
             "classify.py --model_def net.prototxt a.ppm out.npy");
    SH_FAILS("nothing.caffemodel", "classify.py --model_def net.prototxt "
                                   "--pretrained_model nothing.caffemodel a.ppm o.npy");
    SH_FAILS("--images_dim \"8\": write HEIGHT,WIDTH",
             "classify.py " NET "--images_dim 8 a.ppm out.npy");
    SH_FAILS("--images_dim 3,8 is less than the net's input, 4,4",
             "classify.py " NET "--images_dim 3,8 a.ppm out.npy");
    SH_FAILS("--channel_swap \"2,1,1\"",
             "classify.py " NET "--channel_swap 2,1,1 a.ppm out.npy");
    SH_FAILS("--raw_scale must not be 0",
             "classify.py " NET "--raw_scale 0 a.ppm out.npy");
    SH_FAILS("solver.prototxt: ",
             "classify.py " NET "--images_dim 8,8 solver.prototxt out.npy");
    SH_FAILS("missing.jpg", "classify.py " NET "--images_dim 8,8 missing.jpg out.npy");
    CHECK(!file_exists("out.npy"));
}
