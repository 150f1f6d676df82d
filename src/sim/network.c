/* network.c - numbers the ports of a cluster and finds paths. Ports in order: cards
 * (out, in) by node, workers (out, in) by rank, then those of switches or routers. */
#include "sim/network.h"

#include "base/alloc.h"

static int first_switch_port(const fire_network_t *net)
{
    return 2 * net->nnode + 2 * net->nrank;
}

/* Uplinks of a leaf switch. */
static int uplinks(const fire_cluster_t *c)
{
    int n = (int)(c->leaf / c->oversubscription);

    return n > 1 ? n : 1;
}

static int switch_ports(const fire_network_t *net)
{
    const fire_cluster_t *c = net->cluster;

    if (c->topology == FIRE_FAT_TREE)
        return 2 * uplinks(c) * ((net->nnode - 1) / c->leaf + 1);
    if (c->topology == FIRE_TORUS)
        return 2 * FIRE_TORUS_DIMS * c->dims[0] * c->dims[1] * c->dims[2];
    return 0;
}

fire_status_t fire_network_init(fire_network_t *net, const fire_cluster_t *cluster,
                                int nrank)
{
    const fire_cluster_t *c = cluster;
    fire_network_t        n = {.cluster = c, .nrank = nrank};
    double                up;

    n.nnode = (nrank - 1) / c->per_node + 1;
    if (c->topology == FIRE_TORUS && n.nnode > c->dims[0] * c->dims[1] * c->dims[2])
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: %d nodes do not fit into a torus of %d x %d x %d",
                         c->name, n.nnode, c->dims[0], c->dims[1], c->dims[2]);
    n.nport = first_switch_port(&n) + switch_ports(&n);
    FIRE_TRY(FIRE_NEW(&n.bandwidth, n.nport));
    up = c->topology == FIRE_FAT_TREE ? c->leaf / c->oversubscription / uplinks(c) : 1;
    for (int i = 0; i < n.nport; i++)
        n.bandwidth[i] = i < 2 * n.nnode             ? c->net.bandwidth
                         : i < first_switch_port(&n) ? c->node.bandwidth
                                                     : up * c->net.bandwidth;
    *net = n;
    return FIRE_OK;
}

void fire_network_fini(fire_network_t *net)
{
    fire_free(net->bandwidth);
    *net = (fire_network_t){0};
}

/* Append the links of a torus: in each dimension in turn, the shorter direction. */
static void add_torus_hops(const fire_network_t *net, int from, int to, fire_path_t *p)
{
    int stride = 1, at = from;

    for (int d = 0; d < FIRE_TORUS_DIMS; d++) {
        int len = net->cluster->dims[d];
        int gap = (to / stride % len - at / stride % len + len) % len;
        int way = gap <= len - gap ? 1 : -1;

        for (int left = way > 0 ? gap : len - gap; left > 0; left--) {
            int x = at / stride % len;

            p->port[p->n++] =
                first_switch_port(net) + 2 * (FIRE_TORUS_DIMS * at + d) + (way > 0);
            at += ((x + way + len) % len - x) * stride;
        }
        stride *= len;
    }
}

void fire_network_path(const fire_network_t *net, int from, int to, fire_path_t *path_p)
{
    const fire_cluster_t *c    = net->cluster;
    fire_path_t           p    = {.wire = &c->net};
    int                   here = from / c->per_node, there = to / c->per_node;
    int                   above = first_switch_port(net);

    if (here == there) {
        int worker = 2 * net->nnode;

        *path_p = (fire_path_t){
            &c->node, c->shared, 2, {worker + 2 * from, worker + 2 * to + 1}};
        return;
    }
    p.port[p.n++] = 2 * here;
    if (c->topology == FIRE_FAT_TREE && here / c->leaf != there / c->leaf) {
        int up = uplinks(c), by = there % up; /* by: the spine switch */

        p.port[p.n++] = above + 2 * (here / c->leaf * up + by);
        p.port[p.n++] = above + 2 * (there / c->leaf * up + by) + 1;
    }
    if (c->topology == FIRE_TORUS) add_torus_hops(net, here, there, &p);
    p.port[p.n++] = 2 * there + 1;
    *path_p       = p;
}
