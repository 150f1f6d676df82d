/* fuzz_image_list.c - lists of images with labels. */
#include "data/image_list.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz_file_t file;
    fire_image_list_t  list;

    if (fire_image_list_load(fuzz_file_write(&file, data, n), &list) < 0) return 0;
    MUST(list.count > 0);
    for (int64_t i = 0; i < list.count; i++)
        MUST(list.item[i].path != NULL);
    fire_image_list_fini(&list);
    return 0;
}
