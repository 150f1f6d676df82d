/* draw.c - draws nets for users of the library, as `firecaffe net --draw` does. */
#include "api/enter.h"
#include "base/file.h"
#include "report/graph/draw.h"

fire_status_t fire_net_draw(const fire_net_t *net, const char *path)
{
    fire_log_route_t *before = fire_net_enter(net);
    fire_status_t     st;

    if (fire_path_has_suffix(path, ".svg") || fire_path_has_suffix(path, ".html"))
        st = fire_draw_net(net, path);
    else
        st = FIRE_FAIL(FIRE_ERR_INVALID,
                       "%s: a picture of a net is a .svg or .html file", path);
    return fire_net_leave(before, st);
}
