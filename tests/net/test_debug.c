/* The lines of debug_info. */
#include "nets.h"
#include "base/log.h"
#include "net/net_state.h"

static char heard[2048];

static void listen(void *arg, fire_log_level_t level, const char *file, int line,
                   const char *message)
{
    size_t n = strlen(heard);

    (void)arg, (void)level, (void)file, (void)line;
    snprintf(heard + n, sizeof(heard) - n, "%s\n", message);
}

static void says(const char *line)
{
    if (strstr(heard, line) == NULL)
        test_fail(__FILE__, __LINE__, "\"%s\" is not in\n%s", line, heard);
}

/* Log parsers know these lines: they are Caffe's to the blank. */
TEST(debug_info_logs_means_of_absolute_values_as_caffe_does)
{
    fire_net_t *net = net_make_file("two_products", CAFFE__PHASE__TRAIN);

    net->debug_info = true;
    net_fill(net, "x", -2);
    net_fill(net, "t", 1);
    CHECK_OK(
        fire_blob_set(fire_net_find_layer(net, "first")->blob[0], FIRE_DATA, -0.5));
    CHECK_OK(fire_net_clear_diffs(net));
    fire_log_set_sink(listen, NULL, FIRE_INFO);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    says("    [Forward] Layer in, top blob x data: 2\n");
    says("    [Forward] Layer first, top blob first data: 3\n");
    says("    [Forward] Layer first, param blob 0 data: 0.5\n");
    says("    [Forward] Layer second, param blob 1 data: 1\n");
    says("    [Forward] Layer loss, top blob loss data: 9\n");
    CHECK_OK(fire_net_backward(net, -1, 0));
    says("    [Backward] Layer loss, bottom blob second diff: 1.5\n");
    says("    [Backward] Layer second, param blob 1 diff: 3\n");
    CHECK(strstr(heard, "[Backward] Layer first, bottom blob x") == NULL);
    says("    [Backward] All net params (data, diff): L1 norm = (");
    says("); L2 norm = (");
    CHECK_OK(fire_net_debug_update(net, 2));
    says("    [Update] Layer second, param 1 data: 1; diff: 3\n");
    fire_net_destroy(net);
}
