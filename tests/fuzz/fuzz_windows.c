/* fuzz_windows.c - window files of R-CNN. */
#include "data/window_list.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz_file_t file;
    fire_window_list_t list;

    if (fire_window_list_load(fuzz_file_write(&file, data, n), 0.5f, 0.5f, &list) < 0)
        return 0;
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < list.kind[k].count; i++)
            MUST(list.kind[k].item[i].image < list.nimage);
    fire_window_list_fini(&list);
    return 0;
}
