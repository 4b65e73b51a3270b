/* Reverse postorder, dominators after Cooper, Harvey and Kennedy, loops by their back edges. */
#include "model/control_flow.h"
#include "base/alloc.h"

#include <string.h>

static void fill_none(void *vec_at, size_t n)
{
    memset(vec_at, 0xff, n * sizeof(uint32_t));
}

#define resize(v, k)                                                                                                   \
    do {                                                                                                               \
        (v)->n = 0;                                                                                                    \
        dh_vec_reserve(v, (k) + 1);                                                                                    \
        (v)->n = (k);                                                                                                  \
        fill_none((v)->at, (k) + 1);                                                                                   \
    } while (0)

struct visit {
    const struct dh_program *p;
    struct dh_cfg *f;
    bool backwards;
};

static uint32_t n_edges(const struct visit *v, uint32_t block)
{
    const struct dh_basic_block *b = &v->p->blocks.at[v->f->first + block];
    return v->backwards ? b->n_preds : b->n_succs;
}

static uint32_t nth_edge(const struct visit *v, uint32_t block, uint32_t k)
{
    const struct dh_basic_block *b = &v->p->blocks.at[v->f->first + block];
    return (v->backwards ? dh_predecessors(v->p, b)[k] : dh_successors(v->p, b)[k]) - v->f->first;
}

/* Adds blocks reached from `root` to `post` in postorder. `work` holds pairs (block, next successor). */
static void postorder(const struct visit *v, uint32_t root, uint32_t *rank, uint32_t *post, uint32_t *n)
{
    struct dh_cfg *f = v->f;
    f->work.n = 0;
    rank[root] = 0;
    dh_vec_push(&f->work, root);
    dh_vec_push(&f->work, 0);
    while (f->work.n) {
        uint32_t block = f->work.at[f->work.n - 2], k = f->work.at[f->work.n - 1]++;
        if (k < n_edges(v, block)) {
            uint32_t to = nth_edge(v, block, k);
            if (rank[to] == DH_NONE) {
                rank[to] = 0;
                dh_vec_push(&f->work, to);
                dh_vec_push(&f->work, 0);
            }
            continue;
        }
        post[(*n)++] = block;
        f->work.n -= 2;
    }
}

static void reverse(uint32_t *at, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t x = at[i];
        at[i] = at[n - 1 - i];
        at[n - 1 - i] = x;
    }
}

/* Nearest common ancestor in a tree whose parents have smaller ranks. */
static uint32_t common_ancestor(const uint32_t *parent, const uint32_t *rank, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (rank[a] > rank[b])
            a = parent[a];
        while (rank[b] > rank[a])
            b = parent[b];
    }
    return a;
}

static void find_dominators(struct dh_cfg *f, const struct dh_program *p)
{
    struct visit backwards = {p, f, true};
    f->dominator.at[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < f->n_reached; i++) {
            uint32_t block = f->order.at[i], best = DH_NONE;
            for (uint32_t k = 0; k < n_edges(&backwards, block); k++) {
                uint32_t from = nth_edge(&backwards, block, k);
                if (f->rank.at[from] == DH_NONE || f->dominator.at[from] == DH_NONE)
                    continue;
                best = best == DH_NONE ? from : common_ancestor(f->dominator.at, f->rank.at, best, from);
            }
            changed |= best != f->dominator.at[block];
            f->dominator.at[block] = best;
        }
    }
}

/* The exit is a block of its own, number n, successor of every block without successors. */
struct backward {
    uint32_t *order, *rank;
    uint32_t n;
};

static struct backward order_backwards(struct dh_cfg *f, const struct dh_program *p)
{
    struct visit v = {p, f, true};
    struct backward b = {.order = DH_NEW_ARRAY(uint32_t, f->n + 1), .rank = DH_NEW_ARRAY(uint32_t, f->n + 1)};
    fill_none(b.rank, f->n + 1);
    for (uint32_t block = 0; block < f->n; block++)
        if (!p->blocks.at[f->first + block].n_succs && b.rank[block] == DH_NONE)
            postorder(&v, block, b.rank, b.order, &b.n);
    b.order[b.n++] = f->n;
    reverse(b.order, b.n);
    for (uint32_t i = 0; i < b.n; i++)
        b.rank[b.order[i]] = i;
    return b;
}

static uint32_t meet_successors(const struct dh_cfg *f, const struct dh_program *p, const uint32_t *rank,
                                uint32_t block)
{
    const struct dh_basic_block *b = &p->blocks.at[f->first + block];
    uint32_t best = b->n_succs ? DH_NONE : f->n;
    for (uint32_t k = 0; k < b->n_succs; k++) {
        uint32_t to = dh_successors(p, b)[k] - f->first;
        if (rank[to] == DH_NONE || f->post.at[to] == DH_NONE)
            continue;
        best = best == DH_NONE ? to : common_ancestor(f->post.at, rank, best, to);
    }
    return best;
}

static void find_postdominators(struct dh_cfg *f, const struct dh_program *p)
{
    struct backward b = order_backwards(f, p);
    f->post.at[f->n] = f->n;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < b.n; i++) {
            uint32_t block = b.order[i], best = meet_successors(f, p, b.rank, block);
            changed |= best != f->post.at[block];
            f->post.at[block] = best;
        }
    }
    free(b.order);
    free(b.rank);
}

/* Nests the loop of `header` around those of `block`: loops found earlier are inner ones or equal. */
static void nest_loop(struct dh_cfg *f, uint32_t block, uint32_t header)
{
    if (f->loop.at[block] == DH_NONE) {
        f->loop.at[block] = header;
        return;
    }
    uint32_t inner = f->loop.at[block];
    while (inner != header && f->outer.at[inner] != DH_NONE)
        inner = f->outer.at[inner];
    if (inner != header)
        f->outer.at[inner] = header;
}

/* All blocks that reach `header` through its back edges. `stamp` is the header that a block was last seen for. */
static void gather_loop(struct dh_cfg *f, const struct dh_program *p, uint32_t header, uint32_t *stamp)
{
    struct visit v = {p, f, true};
    f->work.n = 0;
    for (uint32_t k = 0; k < n_edges(&v, header); k++) {
        uint32_t from = nth_edge(&v, header, k);
        if (f->rank.at[from] == DH_NONE || f->rank.at[from] < f->rank.at[header])
            continue;
        f->irreducible |= !dh_cfg_dominates(f, header, from);
        dh_vec_push(&f->work, from);
    }
    if (!f->work.n)
        return;
    stamp[header] = header;
    nest_loop(f, header, header);
    while (f->work.n) {
        uint32_t block = f->work.at[--f->work.n];
        if (stamp[block] == header || f->rank.at[block] == DH_NONE)
            continue;
        stamp[block] = header;
        nest_loop(f, block, header);
        for (uint32_t k = 0; k < n_edges(&v, block); k++)
            dh_vec_push(&f->work, nth_edge(&v, block, k));
    }
}

static void find_loops(struct dh_cfg *f, const struct dh_program *p)
{
    uint32_t *stamp = dh_xmalloc((f->n + 1) * sizeof *stamp);
    fill_none(stamp, f->n + 1);
    /* Inner headers have higher ranks than outer ones. */
    for (uint32_t i = f->n_reached; i-- > 0;)
        gather_loop(f, p, f->order.at[i], stamp);
    free(stamp);
}

void dh_cfg_build(struct dh_cfg *f, const struct dh_program *p, uint32_t function)
{
    struct visit forwards = {p, f, false};
    f->function = function;
    f->first = p->functions.at[function].block;
    f->n = p->functions.at[function].n_blocks;
    f->n_reached = 0;
    f->irreducible = false;
    resize(&f->order, f->n);
    resize(&f->rank, f->n);
    resize(&f->dominator, f->n);
    resize(&f->post, f->n);
    resize(&f->loop, f->n);
    resize(&f->outer, f->n);
    if (!f->n)
        return;
    postorder(&forwards, 0, f->rank.at, f->order.at, &f->n_reached);
    reverse(f->order.at, f->n_reached);
    for (uint32_t i = 0; i < f->n_reached; i++)
        f->rank.at[f->order.at[i]] = i;
    f->order.n = f->n_reached;
    find_dominators(f, p);
    find_postdominators(f, p);
    find_loops(f, p);
}

void dh_cfg_release(struct dh_cfg *f)
{
    dh_vec_release(&f->order);
    dh_vec_release(&f->rank);
    dh_vec_release(&f->dominator);
    dh_vec_release(&f->post);
    dh_vec_release(&f->loop);
    dh_vec_release(&f->outer);
    dh_vec_release(&f->work);
}

bool dh_cfg_dominates(const struct dh_cfg *f, uint32_t a, uint32_t b)
{
    if (f->rank.at[a] == DH_NONE || f->rank.at[b] == DH_NONE)
        return false;
    while (f->rank.at[b] > f->rank.at[a])
        b = f->dominator.at[b];
    return a == b;
}

bool dh_cfg_in_loop(const struct dh_cfg *f, uint32_t header, uint32_t block)
{
    for (uint32_t at = f->loop.at[block]; at != DH_NONE; at = f->outer.at[at])
        if (at == header)
            return true;
    return false;
}
