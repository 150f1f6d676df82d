/* special_case.c - layers whose input or output is not a blob. */
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "layers/data/memory_data.h"
#include "model/text.h"
#include "net/net_state.h"

static fire_npy_t memory[2]; /* what MemoryData reads while the net lives */

static bool is_type(const golden_case_t *c, const char *type)
{
    return strcmp(fire_json_string_or(c->json, "layer_type", ""), type) == 0;
}

fire_status_t golden_before_layer(golden_case_t *c, fire_net_t *net)
{
    if (is_type(c, "MemoryData")) {
        FIRE_TRY(fire_npy_load("memory_data.npy", &memory[0]));
        FIRE_TRY(fire_npy_load("memory_label.npy", &memory[1]));
        return fire_memory_data_set(&net->layer[0].base, memory[0].data, memory[1].data,
                                    memory[1].count);
    }
    if (is_type(c, "HDF5Output") && rename("out.h5", "caffe.h5") != 0)
        return FIRE_FAIL(FIRE_ERR_IO, "out.h5: cannot be renamed");
    return FIRE_OK;
}

/* A net that reads the file back. */
static fire_status_t open_reader(const char *file, int rows, fire_net_t **net_p)
{
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    char               text[512];
    ProtobufCMessage  *param;
    FILE              *list = fopen("list.txt", "w");
    fire_status_t      st;

    if (list == NULL) return FIRE_FAIL(FIRE_ERR_IO, "list.txt: cannot be written");
    fprintf(list, "%s\n", file);
    fclose(list);
    snprintf(text, sizeof(text),
             "layer { name: \"d\" type: \"HDF5Data\" top: \"data\" top: \"label\" "
             "hdf5_data_param { source: \"list.txt\" batch_size: %d } }",
             rows);
    FIRE_TRY(fire_text_parse(text, strlen(text), "reader",
                             &caffe__net_parameter__descriptor, &param));
    st = fire_net_create((Caffe__NetParameter *)param, &o, net_p);
    fire_message_free(param);
    return st < 0 ? st : fire_net_forward(*net_p, 0, -1, NULL);
}

static fire_status_t compare_hdf5(golden_case_t *c, int rows)
{
    static const char *const name[] = {"data", "label"};
    fire_net_t              *ours, *caffes;

    FIRE_TRY(open_reader("out.h5", rows, &ours));
    FIRE_TRY(open_reader("caffe.h5", rows, &caffes));
    for (int i = 0; i < 2; i++) {
        fire_blob_t *a = fire_net_find_blob(ours, name[i]);
        fire_blob_t *b = fire_net_find_blob(caffes, name[i]);
        const float *x, *y;

        if (!fire_blob_same_shape(a, b)) {
            golden_reject(c, "%s in out.h5 has another shape", name[i]);
            break;
        }
        FIRE_TRY(fire_blob_read(a, FIRE_DATA, FIRE_CPU, &x));
        FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &y));
        golden_compare(c, name[i], a->count, x, y);
    }
    fire_net_destroy(ours);
    fire_net_destroy(caffes);
    return FIRE_OK;
}

fire_status_t golden_after_layer(golden_case_t *c, fire_net_t *net)
{
    bool         wrote = is_type(c, "HDF5Output");
    fire_blob_t *data  = fire_net_find_blob(net, "data");
    int          rows  = wrote && data != NULL ? (int)data->dim[0] : 0;

    fire_net_destroy(net); /* closes what it wrote */
    for (int i = 0; i < 2; i++)
        fire_npy_fini(&memory[i]);
    return wrote ? compare_hdf5(c, rows) : FIRE_OK;
}
