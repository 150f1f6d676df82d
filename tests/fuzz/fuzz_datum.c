/* fuzz_datum.c - records of a database, up to the pixels. */
#include "data/decode.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fire_workspace_t scratch; /* grows, and is used again */
    fire_datum_t            d;
    fire_pixels_t           p;

    if (fire_datum_parse(data, n, &d) < 0) return 0;
    if (fire_datum_decode(&d, FIRE_COLOR_ASIS, &scratch, &p) < 0) return 0;
    MUST(p.extent.channels > 0 && p.extent.height > 0 && p.extent.width > 0);
    if (!d.encoded)
        MUST(fire_extent_count(p.extent) ==
             (d.ndata > 0 ? (int64_t)d.ndata : d.nfloat));
    return 0;
}
