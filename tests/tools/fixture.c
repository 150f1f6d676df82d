/* fixture.c - writes data, net and solver. */
#include "fixture.h"

#include <glob.h>
#include <stdlib.h>

enum { SIDE = 8, CLASSES = 4 };

static FILE *open_file(const char *name)
{
    FILE *f = fopen(test_path(name), "wb");

    CHECK(f != NULL);
    return f;
}

static void put_number(FILE *f, unsigned x)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(x >> shift & 255), f);
}

void make_idx(int n)
{
    FILE *images = open_file("images.idx"), *labels = open_file("labels.idx");

    put_number(images, 0x803);
    put_number(images, (unsigned)n);
    put_number(images, SIDE);
    put_number(images, SIDE);
    put_number(labels, 0x801);
    put_number(labels, (unsigned)n);
    for (int i = 0; i < n; i++) {
        int label = i % CLASSES;

        for (int k = 0; k < SIDE * SIDE; k++)
            fputc(k * CLASSES / (SIDE * SIDE) == label ? 200 : (i * 7 + k * 13) % 50,
                  images);
        fputc(label, labels);
    }
    CHECK(fclose(images) == 0 && fclose(labels) == 0);
}

static const char net_text[] =
    "name: \"tiny\"\n"
    "layer { name: \"data\" type: \"Data\" top: \"data\" top: \"label\"\n"
    "  transform_param { scale: 0.005 }\n"
    "  data_param { source: \"db\" batch_size: 8 backend: LMDB } }\n"
    "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"data\" top: \"ip\"\n"
    "  inner_product_param { num_output: 4 weight_filler { type: \"xavier\" } } }\n"
    "layer { name: \"accuracy\" type: \"Accuracy\" bottom: \"ip\" bottom: \"label\"\n"
    "  top: \"accuracy\" include { phase: TEST } }\n"
    "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"ip\" bottom: "
    "\"label\"\n"
    "  top: \"loss\" }\n";

void make_solver(const char *more)
{
    char text[2048];

    snprintf(text, sizeof(text),
             "net: \"net.prototxt\"\ntest_iter: 8\ntest_interval: 10\nbase_lr: 0.1\n"
             "lr_policy: \"fixed\"\nmomentum: 0.9\ndisplay: 5\nmax_iter: 20\n"
             "snapshot_prefix: \"snap\"\nrandom_seed: 1\nsolver_mode: CPU\n%s",
             more);
    write_file("solver.prototxt", text);
}

void make_training(void)
{
    make_idx(64);
    SH_OK("firecaffe convert mnist images.idx labels.idx db");
    write_file("net.prototxt", net_text);
    make_solver("");
}

void edit_file(const char *name, const char *from, const char *to)
{
    char  *text = read_file(name), *at = strstr(text, from);
    char  *out = malloc(strlen(text) + strlen(to) + 1);
    size_t head;

    CHECK(at != NULL && out != NULL);
    head = (size_t)(at - text);
    memcpy(out, text, head);
    strcpy(out + head, to);
    strcat(out, at + strlen(from));
    write_file(name, out);
    free(out);
}

int count_files(const char *pattern)
{
    char   path[1024];
    glob_t found = {0};
    int    n;

    snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), pattern);
    n = glob(path, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return n;
}
