/* views.c - keeps the views of a net's blobs and parameters live: called before and
 * after the net runs for a caller who may hold some. */
#include <stdio.h>

#include "net/net_state.h"

static fire_status_t for_all(fire_net_t *net, fire_status_t (*call)(fire_blob_t *blob))
{
    for (int i = 0; i < net->nblob; i++)
        FIRE_TRY(call(net->blob[i].blob));
    for (int i = 0; i < net->nlayer; i++)
        for (int k = 0; k < net->layer[i].base.nblob; k++)
            FIRE_TRY(call(net->layer[i].base.blob[k]));
    return FIRE_OK;
}

fire_status_t fire_net_absorb_views(fire_net_t *net)
{
    return for_all(net, fire_blob_absorb_views);
}

fire_status_t fire_net_refresh_views(fire_net_t *net)
{
    return for_all(net, fire_blob_refresh_views);
}

fire_status_t fire_net_refresh_views_after(fire_net_t *net, fire_status_t so_far)
{
    char why[2048];

    if (so_far >= 0) {
        fire_status_t st = fire_net_refresh_views(net);

        return st < 0 ? st : so_far;
    }
    snprintf(why, sizeof(why), "%s", fire_last_error());
    return fire_net_refresh_views(net) < 0 ? FIRE_FAIL(so_far, "%s", why) : so_far;
}
