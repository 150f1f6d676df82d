/* fuzz_hdf5_data.c - samples of HDF5Data layers. */
#include "data/hdf5_rows.h"
#include "fuzz_file.h"

enum { READS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz_file_t file, list;
    static char        names[2][6] = {"data", "label"};
    char *const        name[2]     = {names[0], names[1]};
    const char        *path        = fuzz_file_write(&file, data, n);
    fire_rows_t       *rows;
    const float       *row[2];
    size_t             length = 0;

    while (path[length] != '\0')
        length++;
    if (fire_rows_open(fuzz_file_write(&list, path, length), name, 2, &rows) < 0)
        return 0;
    for (int i = 0; i < READS; i++)
        IGNORE(fire_rows_read(rows, 1, i > 0, i, row));
    fire_rows_close(rows);
    return 0;
}
