/* fuzz_voc.c - annotations of images in VOC's XML. */
#include "data/convert/voc.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fire_voc_t voc;

    if (fire_voc_parse((const char *)data, n, "fuzz", &voc) < 0) return 0;
    for (int64_t i = 0; i < voc.nobject; i++)
        MUST(voc.object[i].name[0] != '\0' && voc.object[i].corners == 15);
    fire_voc_fini(&voc);
    return 0;
}
