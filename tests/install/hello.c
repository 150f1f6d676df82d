/* hello.c - a program of somebody else's: prints how many elements a blob has. */
#include <stdio.h>
#include <fire/blob.h>

int main(void)
{
    const int64_t dim[] = {2, 3, 4};
    fire_blob_t  *blob  = NULL;

    if (fire_blob_create(&blob) < 0 || fire_blob_reshape(blob, 3, dim) < 0) {
        fprintf(stderr, "%s\n", fire_last_error());
        return 1;
    }
    printf("count %d\n", (int)fire_blob_count(blob));
    fire_blob_destroy(blob);
    return 0;
}
