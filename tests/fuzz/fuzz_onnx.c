/* fuzz_onnx.c - ONNX models in memory; every value is read, and the model becomes a net. */
#include "fuzz.h"
#include "model/message.h"
#include "onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fire_onnx_model_t   *m;
    Caffe__NetParameter *net;
    volatile double      sum = 0;

    if (fire_onnx_parse(data, n, "fuzz", NULL, &m) < 0) return 0;
    for (int64_t i = 0; i < m->ntensor; i++)
        for (int64_t k = 0; m->tensor[i].data != NULL && k < m->tensor[i].count; k++)
            sum += fire_onnx_tensor_number(&m->tensor[i], k) +
                   (double)fire_onnx_tensor_integer(&m->tensor[i], k);
    if (fire_onnx_to_net(m, NULL, &net) >= 0) fire_message_free(net);
    fire_onnx_model_destroy(m);
    return 0;
}
