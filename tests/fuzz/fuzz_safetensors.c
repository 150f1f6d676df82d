/* fuzz_safetensors.c - .safetensors files of weights. */
#include "fuzz.h"
#include "model/tensors/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    Caffe__NetParameter *net;

    if (fire_safetensors_parse(data, n, "fuzz", &net) < 0) return 0;
    for (size_t i = 0; i < net->n_layer; i++)
        MUST(net->layer[i]->n_blobs > 0);
    fire_message_free(net);
    return 0;
}
