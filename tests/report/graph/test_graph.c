/* Drawings of nets. Tests src/report/graph/. */
#include "base/alloc.h"
#include "report/graph/graph.h"
#include "test.h"

#define LAYER(name, type, bottoms, tops, shape)                          \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"bottoms\":[" bottoms \
    "],\"tops\":[" tops "],\"shapes\":[[" shape "]]},"

/* A residual block behind a data layer, with split, in-place layer and label. */
static const char net[] = "[" LAYER("data", "Data", "", "\"data\",\"label\"", "8,3,4,4")
    LAYER("conv", "Convolution", "\"data\"", "\"conv\"",
          "8,16,4,4") LAYER("relu<1>", "ReLU", "\"conv\"", "\"conv\"", "8,16,4,4")
        LAYER("s", "Split", "\"conv\"", "\"conv_0\",\"conv_1\"", "8,16,4,4")
            LAYER("a", "Convolution", "\"conv_0\"", "\"a\"", "8,16,4,4")
                LAYER("b", "Convolution", "\"a\"", "\"b\"", "8,16,4,4")
                    LAYER("sum", "Eltwise", "\"b\",\"conv_1\"", "\"sum\"",
                          "8,16,4,4") "{\"name\":\"loss\",\"type\":\"SoftmaxWithLoss\","
                                      "\"bottoms\":[\"sum\",\"label\"],"
                                      "\"tops\":[\"loss\"],\"shapes\":[[]]}]";

static fire_json_t *json;

static fire_graph_t *make(const char *text)
{
    fire_graph_t *g;

    CHECK_OK(fire_json_parse(text, strlen(text), "net", &json));
    CHECK_OK(fire_graph_create(json, &g));
    return g;
}

static void end(fire_graph_t *g)
{
    fire_graph_destroy(g);
    fire_json_free(json);
}

TEST(in_place_layers_splits_and_labels_are_no_boxes)
{
    fire_graph_t *g = make(net);

    CHECK_EQ(g->nnode, 6);
    CHECK_STR(g->node[1].name, "conv");
    CHECK_EQ(g->node[1].ninside, 1);
    CHECK_STR(g->node[1].inside_type[0], "ReLU");
    CHECK_STR(g->node[1].shape, "16 × 4 × 4");
    CHECK_EQ(g->nedge, 6); /* data-conv-a-b-sum-loss, and conv-sum */
    CHECK_EQ(g->node[5].ntag, 1);
    CHECK_STR(g->node[5].tag[0], "label");
    end(g);
}

TEST(boxes_do_not_overlap_and_edges_lead_down)
{
    fire_graph_t *g = make(net);

    CHECK_OK(fire_graph_layout(g));
    for (int64_t i = 0; i < g->nnode; i++) {
        const fire_graph_node_t *a = &g->node[i];

        CHECK(a->x - a->w / 2 >= 0 && a->x + a->w / 2 <= g->width);
        CHECK(a->y - a->h / 2 >= 0 && a->y + a->h / 2 <= g->height);
        for (int64_t k = 0; k < i; k++) {
            const fire_graph_node_t *b = &g->node[k];

            CHECK(fabs(a->x - b->x) >= (a->w + b->w) / 2 ||
                  fabs(a->y - b->y) >= (a->h + b->h) / 2);
        }
    }
    for (int64_t i = 0; i < g->nedge; i++)
        CHECK(g->edge[i].y[0] < g->edge[i].y[3]);
    end(g);
}

TEST(a_picture_names_its_layers_and_escapes_them)
{
    fire_graph_t *g   = make(net);
    fire_str_t    out = {0};

    CHECK_OK(fire_graph_layout(g));
    CHECK_OK(fire_graph_svg(g, true, &out));
    CHECK(strstr(out.text, "data-layers=\"conv&#10;relu&lt;1>\"") != NULL);
    CHECK(strstr(out.text, "<style>") != NULL);
    CHECK(strstr(out.text, "relu<1>") == NULL);
    fire_str_fini(&out);
    end(g);
}

TEST(graphviz_is_asked_and_understood)
{
    static const char answer[] =
        "graph 1 4 5\nnode n0 2 4.5 1 0.5 \"\" solid box\n"
        "node n1 2 3 1 0.5 \"\" solid box\n"
        "edge n0 n1 4 2 4.2 2 4 2 3.5 2 3.3 solid black\n"
        "edge n0 n1 7 0 5 0 4 0 3 0 2 1 1 2 1 3 0 solid black\n"
        "edge n0 n99 4 0 0 0 0 0 0 0 0 solid\nstop\n";
    fire_graph_t *g   = make(net);
    fire_str_t    out = {0};

    CHECK_OK(fire_graph_dot(g, &out));
    CHECK(strstr(out.text, "n4 -> n5;") != NULL);
    CHECK_OK(fire_graph_placed(g, answer));
    CHECK_NEAR(g->node[1].x, 144 + 16, 1e-9); /* and a margin */
    CHECK_NEAR(g->node[1].y, 144 + 16, 1e-9); /* from above */
    CHECK_EQ(g->nedge, 3);                    /* one piece, and two */
    CHECK_NEAR(g->edge[2].x[3], 216 + 16, 1e-9);
    CHECK_FAILS(fire_graph_placed(g, "Error: syntax"), FIRE_ERR_PARSE, "Graphviz");
    fire_str_fini(&out);
    end(g);
}

TEST(a_net_without_layers_gives_an_empty_picture)
{
    fire_graph_t *g   = make("[]");
    fire_str_t    out = {0};

    CHECK_OK(fire_graph_layout(g));
    CHECK_OK(fire_graph_svg(g, false, &out));
    fire_str_fini(&out);
    end(g);
}

/* ---- directions ---- */

/* How far a part of the net lies behind another, with the flow. */
static double ahead(const fire_graph_t *g, int from, int to)
{
    return (g->node[to].x - g->node[from].x) * g->flow_x +
           (g->node[to].y - g->node[from].y) * g->flow_y;
}

TEST(a_net_can_flow_to_the_right_and_back)
{
    fire_graph_t *g = make(net);
    double        wide;

    wide = g->node[1].w;
    fire_graph_transpose(g);
    CHECK_OK(fire_graph_layout(g));
    fire_graph_transpose(g);
    CHECK(g->flow_x == 1 && g->flow_y == 0);
    CHECK(g->width > g->height);
    CHECK_NEAR(g->node[1].w, wide, 0.0); /* texts lie as before */
    CHECK(ahead(g, 0, 1) > 0 && ahead(g, 1, 5) > 0);
    fire_graph_mirror(g);
    CHECK(g->flow_x == -1 && g->node[0].x > g->node[5].x);
    CHECK(ahead(g, 0, 1) > 0 && ahead(g, 1, 5) > 0);
    for (int64_t i = 0; i < g->nedge; i++)
        CHECK(g->edge[i].x[3] < g->edge[i].x[0]);
    end(g);
}

TEST(a_net_can_flow_upwards)
{
    fire_graph_t *g = make(net);

    CHECK_OK(fire_graph_layout(g));
    fire_graph_mirror(g);
    CHECK(g->flow_y == -1 && g->node[0].y > g->node[5].y);
    end(g);
}

TEST(graphviz_gets_all_texts_where_it_draws)
{
    fire_str_t    out = {0};
    fire_graph_t *g   = make("[{\"name\":\"a \\\"b\\\"\",\"type\":\"Convolution\","
                               "\"bottoms\":[],\"tops\":[\"x\"],\"note\":\"5/2\"},"
                               "{\"name\":\"c\",\"type\":\"ReLU\",\"bottoms\":[\"x\"],"
                               "\"tops\":[\"x\"]},{\"name\":\"d\",\"type\":\"ReLU\","
                               "\"bottoms\":[\"x\"],\"tops\":[\"y\"]}]");

    CHECK_OK(fire_graph_dot_drawing(g, "RL", &out));
    CHECK(strstr(out.text, "rankdir=RL;") != NULL);
    CHECK(strstr(out.text,
                 "n0 [label=\"a \\\"b\\\"\\nConvolution\\n5/2\\nc · ReLU\"];") != NULL);
    CHECK(strstr(out.text, "n0 -> n1;") != NULL);
    fire_str_fini(&out);
    end(g);
}

TEST(data_layers_of_both_phases_lead_to_who_takes_their_blob)
{
    fire_graph_t *g =
        make("[" LAYER("train", "Data", "", "\"x\",\"y\"", "1")
                 LAYER("test", "Data", "", "\"x\",\"y\"", "1")
                     LAYER("loss", "Loss", "\"x\",\"y\"", "\"l\"", "1") "{}]");

    CHECK_EQ(g->nedge, 2);
    CHECK_EQ(g->edge[0].from + g->edge[1].from, 1);
    CHECK_EQ(g->node[2].ntag, 1);
    end(g);
}

TEST(what_stands_beside_a_box_has_room)
{
    fire_graph_t *g =
        make("[" LAYER("data", "Data", "", "\"x\",\"label\"", "1")
                 LAYER("a", "Loss", "\"x\",\"label\"", "\"l\"", "1")
                     LAYER("b", "Loss", "\"x\",\"label\"", "\"m\"", "1") "{}]");
    const fire_graph_node_t *a = &g->node[1], *b = &g->node[2];

    CHECK_OK(fire_graph_layout(g));
    CHECK(a->tag_room > 0);
    CHECK(fabs(b->x - a->x) >= (a->w + b->w) / 2 + a->tag_room);
    CHECK(g->width >= fmax(a->x, b->x) + a->w / 2 + a->tag_room);
    end(g);
}
