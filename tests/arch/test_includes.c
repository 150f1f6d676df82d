/* Who may include whom. Includes point one way, libraries are used where their name is on
 * the file. docs/architecture.md draws the first table. */
#include <ctype.h>
#include "tree.h"

/* Folders of src/, and the folders that each may include besides itself. */
static const struct {
    const char *folder, *may;
} directions[] = {
    {"base", ""},
    {"device", "base"},
    {"blob", "base device"},
    {"model", "base device blob"},
    {"data", "base device blob model"},
    {"layers", "base device blob model data"},
    {"net", "base device blob model layers data"},
    {"onnx", "base device blob model layers data net"},
    {"solver", "base device blob model layers data net"},
    {"comm", "base device"},
    {"runlog", "base"},
    {"train", "base device blob model layers data net solver comm runlog"},
    {"launch", "base device comm train"},
    {"report", "base device blob model layers data net solver comm train runlog"},
    {"sweep", "base device model net train launch runlog report comm"},
    {"sim", "base comm"},
    {"api",
     "base device blob model layers data net solver comm runlog train launch report"},
    {"plan", "base device blob model layers data net comm sim"},
};

/* Rooms within a folder that do not know all of it: the rooms beside them, or the folder
 * itself, that each may include. */
static const struct {
    const char *room, *may;
} rooms[] = {
    {"onnx/export", "onnx"},
    {"onnx/import", "onnx"},
    {"base/random", "base"},
    {"base/text", "base"},
    {"comm/pattern", "comm"},
    {"comm/codec", "comm"},
    {"comm/transport", "comm comm/transport/module"},
    {"comm/transport/module", ""},
    {"comm/algo", "comm comm/pattern"},
    {"comm/select", "comm comm/algo"},
    {"comm/exec", "comm comm/codec comm/transport"},
    {"data/source", "data"},
    {"data/image", "data data/source"},
    {"data/transform", "data data/image"},
    {"device/cpu", "device"},
    {"device/cuda/kernel", "device/cuda"},
    {"layers/neuron", "layers"},
    {"layers/python", "layers"},
    {"layers/data", "layers"},
};

#define VERSIONS "src/runlog/libraries.c" /* tells the version of each */

/* Headers of other libraries, and a part that the path of a user must have. */
static const struct {
    const char *header, *part[3];
} libraries[] = {
    {"mpi.h", {"src/comm/transport/module/"}},
    {"nccl.h", {"src/comm/transport/nccl"}},
    {"cudnn.h", {"src/device/cuda/", "_cudnn."}},
    {"cuda_runtime.h", {"src/device/cuda/", ".cu", "_cudnn."}},
    {"hdf5.h", {"hdf5", VERSIONS}},
    {"leveldb/c.h", {"leveldb", VERSIONS}},
    {"jpeglib.h", {"jpeg", VERSIONS}},
    {"png.h", {"png", VERSIONS}},
    {"oneapi/dnnl/dnnl.h", {"onednn", VERSIONS}},
    {"lmdb.h", {"lmdb", VERSIONS}},
    {"cblas.h", {"src/device/cpu/", "src/layers/"}},
};

enum {
    NDIRECTION = sizeof(directions) / sizeof(directions[0]),
    NROOM      = sizeof(rooms) / sizeof(rooms[0]),
    NLIBRARY   = sizeof(libraries) / sizeof(libraries[0]),
};

/* The name between the quotes or brackets of an #include line. */
static bool included(const char *line, char name[128])
{
    char close;

    while (isspace((unsigned char)*line))
        line++;
    if (*line++ != '#') return false;
    while (isspace((unsigned char)*line))
        line++;
    return sscanf(line, "include %*[\"<]%127[^\">]%c", name, &close) == 2;
}

static int direction_of(const char *path)
{
    for (int i = 0; i < NDIRECTION; i++) {
        size_t n = strlen(directions[i].folder);

        if (strncmp(path, directions[i].folder, n) == 0 && path[n] == '/') return i;
    }
    return -1;
}

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *w = words; *w != '\0'; w += strcspn(w, " "), w += *w == ' ')
        if (strcspn(w, " ") == n && strncmp(w, word, n) == 0) return true;
    return false;
}

static void check_direction(const char *path, int number, const char *line)
{
    char name[128];
    int  from = direction_of(path + strlen("src/")), to;

    if (from < 0) tree_complain(path, number, "folder unknown to test_includes.c");
    if (from < 0 || !included(line, name)) return;
    if (strncmp(name, "tools/", 6) == 0 || strstr(name, "..") != NULL)
        tree_complain(path, number, "includes %s", name);
    to = direction_of(name);
    if (to >= 0 && to != from && !has_word(directions[from].may, directions[to].folder))
        tree_complain(path, number, "%s may not include %s", directions[from].folder,
                      name);
}

TEST(includes_point_one_way)
{
    CHECK(tree_lines("src", "c h cu cuh", check_direction) > 10);
    TREE_DONE();
}

/* "comm/algo" of "comm/algo/ring.c" */
static const char *folder_of(const char *path, char folder[128])
{
    const char *slash = strrchr(path, '/');

    snprintf(folder, 128, "%.*s", slash != NULL ? (int)(slash - path) : 0, path);
    return folder;
}

static void check_room(const char *path, int number, const char *line)
{
    char   name[128], from[128], to[128];
    size_t top;

    if (!included(line, name)) return;
    folder_of(path + strlen("src/"), from);
    folder_of(name, to);
    top = strcspn(from, "/");
    if (strncmp(from, to, top) != 0 || (to[top] != '/' && to[top] != '\0')) return;
    for (int i = 0; i < NROOM; i++)
        if (strcmp(rooms[i].room, from) == 0 && strcmp(from, to) != 0 &&
            !has_word(rooms[i].may, to))
            tree_complain(path, number, "%s may not include %s", from, name);
}

TEST(rooms_of_a_folder_include_only_what_they_need)
{
    for (int i = 0; i < NROOM; i++) {
        char path[160];

        snprintf(path, sizeof(path), "src/%s", rooms[i].room);
        CHECK(tree_exists(path));
    }
    tree_lines("src", "c h cu cuh", check_room);
    TREE_DONE();
}

static void check_library(const char *path, int number, const char *line)
{
    char name[128];

    if (!included(line, name)) return;
    for (int i = 0; i < NLIBRARY; i++) {
        bool allowed = false;

        if (strcmp(name, libraries[i].header) != 0) continue;
        for (int k = 0; k < 3 && libraries[i].part[k] != NULL; k++)
            allowed |= strstr(path, libraries[i].part[k]) != NULL;
        if (!allowed)
            tree_complain(path, number, "%s belongs into files with \"%s\" in the path",
                          name, libraries[i].part[0]);
    }
}

TEST(a_library_is_used_only_where_its_name_is_on_the_file)
{
    CHECK(tree_lines("src", "c h cu cuh", check_library) > 10);
    CHECK(tree_lines("include", "h", check_library) > 0);
    CHECK(tree_lines("tools", "c h", check_library) > 10);
    TREE_DONE();
}

/* Members of these are for the library: the program calls functions, as every other
 * client has to. */
static void check_tool(const char *path, int number, const char *line)
{
    static const char *const hidden[] = {"net/net_state.h", "train/trainer_state.h"};
    char                     name[128];
    const char              *layer = strstr(line, "fire_layer_t");

    if (layer != NULL && !isalnum((unsigned char)layer[strlen("fire_layer_t")]))
        tree_complain(path, number, "a tool asks the net, not a layer (net/net.h)");
    if (!included(line, name)) return;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (strcmp(name, hidden[i]) == 0)
            tree_complain(path, number, "tools may not include %s", name);
}

TEST(tools_use_nets_and_trainers_by_their_functions)
{
    CHECK(tree_lines("tools", "c h", check_tool) > 10);
    TREE_DONE();
}

static void check_public(const char *path, int number, const char *line)
{
    static const char *const standard[] = {"stdbool.h", "stddef.h", "stdint.h"};
    char                     name[128];

    if (!included(line, name) || strncmp(name, "fire/", 5) == 0) return;
    for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
        if (strcmp(name, standard[i]) == 0) return;
    tree_complain(path, number, "a public header may not need %s", name);
}

TEST(public_headers_need_nothing_but_each_other)
{
    CHECK(tree_lines("include", "h", check_public) > 0);
    TREE_DONE();
}
