/* test_prototxts.c - every net and solver of models/ reads with our own reader. */
#include "model/load.h"
#include "test.h"
#include <glob.h>

static void read_all(const char *pattern, const ProtobufCMessageDescriptor *desc,
                     size_t at_least)
{
    glob_t files;

    CHECK(glob(test_source(pattern), 0, NULL, &files) == 0);
    CHECK(files.gl_pathc >= at_least);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        ProtobufCMessage *message;

        CHECK_OK(fire_message_load_text(files.gl_pathv[i], desc, &message));
        fire_message_free(message);
    }
    globfree(&files);
}

TEST(every_training_net_is_read)
{
    read_all("models/*/train_val.prototxt", &caffe__net_parameter__descriptor, 17);
}

TEST(every_deployed_net_is_read)
{
    read_all("models/*/deploy*.prototxt", &caffe__net_parameter__descriptor, 19);
}

TEST(every_solver_is_read)
{
    read_all("models/*/solver*.prototxt", &caffe__solver_parameter__descriptor, 20);
}
