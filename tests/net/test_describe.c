#include "net/describe.h"

#include "nets.h"

TEST(a_net_is_described_layer_by_layer)
{
    fire_net_t        *net = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    fire_json_writer_t w   = {0};
    fire_json_t       *json;
    const fire_json_t *l;

    fire_json_open(&w, NULL, '{');
    fire_net_describe(&w, "layers", net);
    fire_json_close(&w, '}');
    CHECK_OK(fire_json_parse(w.out.text, w.out.n, "test", &json));
    l = fire_json_get(json, "layers");
    CHECK_EQ(l->n, 5);
    CHECK_STR(fire_json_string_or(&l->item[3], "name", ""), "second");
    CHECK_STR(fire_json_string_or(&l->item[3], "type", ""), "InnerProduct");
    CHECK_STR(fire_json_get(&l->item[3], "bottoms")->item[0].string, "first");
    CHECK_NEAR(fire_json_get(&l->item[3], "shapes")->item[0].item[1].number, 2, 0);
    CHECK_NEAR(fire_json_number_or(&l->item[3], "params", -1), 4 * 2 + 2, 0);
    CHECK_NEAR(fire_json_number_or(&l->item[1], "macs", -1), 2 * 3 * 4, 0);
    CHECK_STR(fire_json_string_or(&l->item[2], "kernel", ""),
              fire_net_layer_kernel(net, 2));
    fire_json_free(json);
    fire_json_writer_fini(&w);
    fire_net_destroy(net);
}
