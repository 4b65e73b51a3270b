#include "detect/lock_order.h"
#include "base/alloc.h"

#include "detect/online_scc.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 20000, /* of one search */
    STEPS_LEAST = 300,
    STEPS_EACH = 100,
    PATIENCE = 64,
    JOINS_MOST = 16 /* who joins who joins */
};

typedef DH_VEC(struct dh_lock_request *) requests;

struct node {
    struct node *next;
    uint64_t lock;
    uint32_t id, vertex; /* vertex of `cycles` */
    requests holders, wanters;
};

/* Requests that differ in nothing but the thread. */
struct dh_similar_requests {
    struct dh_similar_requests *next;
    uint64_t key;
    uint32_t n;
    struct dh_lock_request *oldest, *newest;
};

struct dh_lock_order {
    dh_cycle_found *found;
    void *arg;
    struct dh_lock_request **table;     /* by key */
    struct node **nodes;                /* by lock */
    struct dh_similar_requests **alike; /* by key without the thread */
    size_t n_requests, cap_requests, n_nodes, cap_nodes, n_alike, cap_alike;
    DH_VEC(requests *) threads;
    DH_VEC(uint64_t) told;        /* signatures of cycles, sorted */
    struct dh_online_scc *cycles; /* which locks are in cycles at all, if nothing keeps threads apart */
    uint64_t allowed, spent;      /* steps of searches */
    /* The search under way. */
    const struct dh_lock_request *path[DH_LOCK_ORDER_CYCLE_MAX];
    struct dh_hb_snapshot *when[DH_LOCK_ORDER_CYCLE_MAX];
    size_t n_path;
    unsigned steps, most_steps;
    bool found_one, goes_on; /* there are longer paths */
};

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

struct dh_lock_order *dh_lock_order_new(dh_cycle_found *found, void *arg)
{
    struct dh_lock_order *o = DH_NEW(struct dh_lock_order);
    o->found = found;
    o->arg = arg;
    o->cycles = dh_online_scc_new();
    return o;
}

/* ---- tables: chains, so that what is gone can be taken out ---- */

#define GROW(o, rows, n, cap, type, hash)                                                                              \
    do {                                                                                                               \
        if ((o)->n < (o)->cap)                                                                                         \
            break;                                                                                                     \
        size_t cap_ = (o)->cap ? (o)->cap * 2 : 64;                                                                    \
        type **rows_ = dh_xcalloc(cap_, sizeof *rows_);                                                                \
        for (size_t i_ = 0; i_ < (o)->cap; i_++)                                                                       \
            for (type *r_ = (o)->rows[i_], *next_; r_; r_ = next_) {                                                   \
                next_ = r_->next;                                                                                      \
                r_->next = rows_[(hash) & (cap_ - 1)];                                                                 \
                rows_[(hash) & (cap_ - 1)] = r_;                                                                       \
            }                                                                                                          \
        free((o)->rows);                                                                                               \
        (o)->rows = rows_;                                                                                             \
        (o)->cap = cap_;                                                                                               \
    } while (0)

static struct node *find_node(const struct dh_lock_order *o, uint64_t lock)
{
    struct node *n = o->cap_nodes ? o->nodes[mix(0, lock) & (o->cap_nodes - 1)] : NULL;
    while (n && n->lock != lock)
        n = n->next;
    return n;
}

/* What was at the address before it became another lock counts no more. */
static struct node *get_node(struct dh_lock_order *o, uint64_t lock, uint32_t id)
{
    struct node *n = find_node(o, lock);
    if (n && n->id != id) {
        dh_lock_order_forget(o, lock);
        n = NULL;
    }
    if (n)
        return n;
    GROW(o, nodes, n_nodes, cap_nodes, struct node, mix(0, r_->lock));
    struct node **row = &o->nodes[mix(0, lock) & (o->cap_nodes - 1)];
    n = dh_xcalloc(1, sizeof *n);
    *n = (struct node){.next = *row, .lock = lock, .id = id, .vertex = dh_online_scc_add_vertex(o->cycles)};
    *row = n;
    o->n_nodes++;
    return n;
}

static struct dh_lock_request *find_request(const struct dh_lock_order *o, uint64_t key)
{
    struct dh_lock_request *r = o->cap_requests ? o->table[key & (o->cap_requests - 1)] : NULL;
    while (r && r->key != key)
        r = r->next;
    return r;
}

static struct dh_similar_requests *get_alike(struct dh_lock_order *o, uint64_t key)
{
    GROW(o, alike, n_alike, cap_alike, struct dh_similar_requests, r_->key);
    struct dh_similar_requests **row = &o->alike[key & (o->cap_alike - 1)], *a = *row;
    while (a && a->key != key)
        a = a->next;
    if (a)
        return a;
    a = dh_xcalloc(1, sizeof *a);
    *a = (struct dh_similar_requests){.next = *row, .key = key};
    o->n_alike++;
    return *row = a;
}

/* ---- requests ---- */

/* Where no place is known, the calling context tells places apart. */
static uint64_t place_of(uint32_t site, uint32_t ctx)
{
    return site == DH_NO_PLACE ? (uint64_t)ctx << 32 | site : site;
}

static uint64_t key_without_thread(const struct dh_lock_request *r)
{
    uint64_t h = mix(mix(mix(r->lock, r->id), r->shared), place_of(r->site, r->ctx));
    if (!r->lock)
        h = mix(h, r->joined);
    for (uint32_t i = 0; i < r->n_held; i++)
        h = mix(mix(h, (uint64_t)r->held[i].id << 1 | r->held[i].shared), place_of(r->held[i].site, r->held[i].ctx));
    return h;
}

static void unlist(struct dh_lock_request *r)
{
    if (--r->listed)
        return;
    for (uint32_t i = 0; i < r->n_snapshots; i++)
        dh_hb_snapshot_unref(r->snapshots[i]);
    free(r->held);
    free(r);
}

static void leave_alike(struct dh_lock_order *o, struct dh_lock_request *r)
{
    struct dh_similar_requests *a = r->alike;
    *(r->alike_before ? &r->alike_before->alike_after : &a->oldest) = r->alike_after;
    *(r->alike_after ? &r->alike_after->alike_before : &a->newest) = r->alike_before;
    if (--a->n)
        return;
    struct dh_similar_requests **at = &o->alike[a->key & (o->cap_alike - 1)];
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    o->n_alike--;
    free(a);
}

/* It stays in the lists until they are next looked through. */
static void kill_request(struct dh_lock_order *o, struct dh_lock_request *r)
{
    if (r->dead)
        return;
    struct dh_lock_request **at = &o->table[r->key & (o->cap_requests - 1)];
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    o->n_requests--;
    leave_alike(o, r);
    r->dead = true;
    unlist(r);
}

static void sweep(requests *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n; i++)
        if (v->at[i]->dead)
            unlist(v->at[i]);
        else
            v->at[n++] = v->at[i];
    v->n = n;
}

static void list(requests *v, struct dh_lock_request *r)
{
    if (v->n == v->cap)
        sweep(v);
    dh_vec_push(v, r);
    r->listed++;
}

static requests *of_thread(struct dh_lock_order *o, uint32_t thread)
{
    while (o->threads.n <= thread)
        dh_vec_push(&o->threads, NULL);
    if (!o->threads.at[thread])
        o->threads.at[thread] = DH_NEW(requests);
    return o->threads.at[thread];
}

/* Beyond so many threads that do the same, the oldest says nothing that the others do not. */
static void join_alike(struct dh_lock_order *o, struct dh_lock_request *r)
{
    struct dh_similar_requests *a = get_alike(o, key_without_thread(r));
    r->alike = a;
    r->alike_before = a->newest;
    *(a->newest ? &a->newest->alike_after : &a->oldest) = r;
    a->newest = r;
    if (++a->n > DH_LOCK_ORDER_SIMILAR_MAX)
        kill_request(o, a->oldest);
}

/* Who joins waits for whatever the other thread waits for, which has all been told by then. */
static void add_edges_of_join(struct dh_lock_order *o, const struct dh_lock_request *r, uint32_t thread, unsigned depth)
{
    size_t at = 0;
    const struct dh_lock_request *q;
    while (depth < JOINS_MOST && (q = dh_lock_order_next(o, thread, &at))) {
        const struct node *wanted = q->lock ? find_node(o, q->lock) : NULL;
        for (uint32_t i = 0; wanted && i < r->n_held; i++)
            dh_online_scc_add_edge(o->cycles, find_node(o, r->held[i].lock)->vertex, wanted->vertex);
        if (!q->lock)
            add_edges_of_join(o, r, q->joined, depth + 1);
    }
}

static struct dh_lock_request *add_request(struct dh_lock_order *o, const struct dh_lock_request *like, uint64_t key)
{
    /* First of all nodes: whoever is another lock now takes others along. */
    for (uint32_t i = 0; i < like->n_held; i++)
        get_node(o, like->held[i].lock, like->held[i].id);
    struct node *wanted = like->lock ? get_node(o, like->lock, like->id) : NULL;
    GROW(o, table, n_requests, cap_requests, struct dh_lock_request, r_->key);
    struct dh_lock_request *r = DH_NEW(struct dh_lock_request), **row = &o->table[key & (o->cap_requests - 1)];
    *r = *like;
    r->held = dh_xcalloc(like->n_held ? like->n_held : 1, sizeof *r->held);
    if (like->n_held)
        memcpy(r->held, like->held, like->n_held * sizeof *r->held);
    r->key = key;
    r->next = *row;
    r->listed = 1;
    *row = r;
    o->n_requests++;
    for (uint32_t i = 0; i < r->n_held; i++) {
        struct node *n = find_node(o, r->held[i].lock);
        list(&n->holders, r);
        if (wanted)
            dh_online_scc_add_edge(o->cycles, n->vertex, wanted->vertex);
    }
    if (wanted)
        list(&wanted->wanters, r);
    list(of_thread(o, r->thread), r);
    if (!r->lock && r->n_held)
        add_edges_of_join(o, r, r->joined, 0);
    join_alike(o, r);
    return r;
}

/* False: it is there already. */
static bool add_snapshot(struct dh_lock_request *r, struct dh_hb_snapshot *now)
{
    if (r->n_snapshots && r->snapshots[0]->epoch.time == now->epoch.time)
        return false;
    if (r->n_snapshots == DH_LOCK_ORDER_SNAPSHOTS)
        dh_hb_snapshot_unref(r->snapshots[--r->n_snapshots]);
    memmove(r->snapshots + 1, r->snapshots, r->n_snapshots * sizeof *r->snapshots);
    r->snapshots[0] = dh_hb_snapshot_ref(now);
    r->n_snapshots++;
    return true;
}

static void kill_all(struct dh_lock_order *o, requests *v)
{
    for (size_t i = 0; i < v->n; i++)
        kill_request(o, v->at[i]);
    sweep(v);
    dh_vec_release(v);
}

void dh_lock_order_forget(struct dh_lock_order *o, uint64_t lock)
{
    struct node *n = find_node(o, lock);
    if (!n)
        return;
    struct node **at = &o->nodes[mix(0, lock) & (o->cap_nodes - 1)];
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    o->n_nodes--;
    kill_all(o, &n->holders);
    kill_all(o, &n->wanters);
    dh_online_scc_remove(o->cycles, n->vertex);
    free(n);
}

const struct dh_lock_request *dh_lock_order_next(struct dh_lock_order *o, uint32_t thread, size_t *at)
{
    requests *v = thread < o->threads.n ? o->threads.at[thread] : NULL;
    while (v && *at < v->n && v->at[*at]->dead)
        ++*at;
    return v && *at < v->n ? v->at[(*at)++] : NULL;
}

/* ---- cycles ---- */

const struct dh_lock_hold *dh_lock_request_holds(const struct dh_lock_request *r, uint64_t lock, bool shared)
{
    for (uint32_t i = 0; i < r->n_held; i++)
        if (r->held[i].lock == lock)
            return r->held[i].shared && shared ? NULL : &r->held[i];
    return NULL;
}

/* `waiter` would wait for what `holder` has or is. */
static bool waits_for(const struct dh_lock_request *waiter, const struct dh_lock_request *holder)
{
    return waiter->lock ? dh_lock_request_holds(holder, waiter->lock, waiter->shared) != NULL
                        : waiter->joined == holder->thread;
}

static requests *in_the_way(struct dh_lock_order *o, const struct dh_lock_request *r)
{
    if (!r->lock)
        return r->joined < o->threads.n ? o->threads.at[r->joined] : NULL;
    struct node *n = find_node(o, r->lock);
    return n ? &n->holders : NULL;
}

/* Whether it is in a cycle if nothing keeps threads apart; most are not. */
static bool may_be_in_cycle(struct dh_lock_order *o, const struct dh_lock_request *r)
{
    const struct node *wanted = r->lock ? find_node(o, r->lock) : NULL;
    if (!wanted)
        return r->n_held > 0;
    for (uint32_t i = 0; i < r->n_held; i++)
        if (dh_online_scc_same(o->cycles, find_node(o, r->held[i].lock)->vertex, wanted->vertex))
            return true;
    return false;
}

/* Both cannot be there at once: one would have to wait for the other before. */
static bool are_kept_apart(const struct dh_lock_request *a, const struct dh_lock_request *b)
{
    for (uint32_t i = 0; i < a->n_held; i++)
        if (dh_lock_request_holds(b, a->held[i].lock, a->held[i].shared))
            return true;
    return false;
}

static struct dh_hb_snapshot *snapshot_beside_path(const struct dh_lock_order *o, const struct dh_lock_request *r)
{
    for (uint32_t m = 0; m < r->n_snapshots; m++) {
        size_t i = 0;
        while (i < o->n_path && dh_hb_snapshots_concurrent(o->when[i], r->snapshots[m]))
            i++;
        if (i == o->n_path)
            return r->snapshots[m];
    }
    return NULL;
}

static bool fits_path(const struct dh_lock_order *o, const struct dh_lock_request *r)
{
    for (size_t i = 0; i < o->n_path; i++)
        if (o->path[i]->thread == r->thread || are_kept_apart(o->path[i], r))
            return false;
    return true;
}

/* Cycles of other instances at the same places are the same to a reader: the set of places counts. */
static uint64_t signature(const struct dh_lock_order *o)
{
    uint64_t sum = 0, parts[DH_LOCK_ORDER_CYCLE_MAX];
    size_t n = 0;
    for (size_t i = 0; i < o->n_path; i++) {
        const struct dh_lock_request *r = o->path[i], *before = o->path[(i ? i : o->n_path) - 1];
        const struct dh_lock_hold *h = before->lock ? dh_lock_request_holds(r, before->lock, before->shared) : NULL;
        uint64_t part = mix(mix(1, place_of(r->site, r->ctx)), h ? place_of(h->site, h->ctx) : UINT64_MAX);
        size_t k = 0;
        while (k < n && parts[k] != part)
            k++;
        if (k == n)
            sum += parts[n++] = part;
    }
    return sum;
}

static bool is_new(struct dh_lock_order *o, uint64_t s)
{
    size_t low = 0, high = o->told.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->told.at[middle] < s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < o->told.n && o->told.at[low] == s)
        return false;
    dh_vec_push(&o->told, 0);
    memmove(o->told.at + low + 1, o->told.at + low, (o->told.n - 1 - low) * sizeof s);
    o->told.at[low] = s;
    return true;
}

static void closed(struct dh_lock_order *o)
{
    o->found_one = true;
    if (is_new(o, signature(o)))
        o->found(o->arg, o->path, o->n_path);
}

static void extend(struct dh_lock_order *o, size_t length)
{
    const struct dh_lock_request *last = o->path[o->n_path - 1];
    const requests *next = in_the_way(o, last);
    for (size_t i = 0; next && i < next->n && !o->found_one && o->steps < o->most_steps; i++) {
        struct dh_lock_request *r = next->at[i];
        o->steps++;
        if (r->dead || !waits_for(last, r) || !fits_path(o, r))
            continue;
        bool closes = waits_for(r, o->path[0]);
        struct dh_hb_snapshot *when = snapshot_beside_path(o, r);
        if (!when || (closes && o->n_path + 1 < length)) /* shorter ones were looked for before */
            continue;
        if (!closes && o->n_path + 1 == length) {
            o->goes_on = true;
            continue;
        }
        o->when[o->n_path] = when;
        o->path[o->n_path++] = r;
        if (closes)
            closed(o);
        else
            extend(o, length);
        o->n_path--;
    }
}

/* However many requests there are, a search takes no more than some steps for each on average. */
static unsigned steps_allowed(const struct dh_lock_order *o)
{
    uint64_t left = o->allowed > o->spent ? o->allowed - o->spent : 0;
    return left < STEPS_LEAST ? STEPS_LEAST : left < STEPS ? (unsigned)left : STEPS;
}

/* Where many looks led to nothing, few more are worth it. */
static bool is_worth(struct dh_lock_request *r)
{
    uint32_t n = r->fruitless++;
    return n < PATIENCE || !(n & (n - 1));
}

/* The shortest cycle through the newest moment of the request. */
static void search(struct dh_lock_order *o, struct dh_lock_request *r)
{
    o->allowed += STEPS_EACH;
    if (r->told || !may_be_in_cycle(o, r) || !is_worth(r))
        return;
    o->path[0] = r;
    o->when[0] = r->snapshots[0];
    o->steps = 0;
    o->most_steps = steps_allowed(o);
    o->found_one = false;
    o->goes_on = true;
    for (size_t length = 2;
         length <= DH_LOCK_ORDER_CYCLE_MAX && o->goes_on && !o->found_one && o->steps < o->most_steps; length++) {
        o->n_path = 1;
        o->goes_on = false;
        extend(o, length);
    }
    o->spent += o->steps;
    r->told = o->found_one;
}

void dh_lock_order_request(struct dh_lock_order *o, const struct dh_lock_request *like, struct dh_hb_snapshot *now)
{
    uint64_t key = mix(key_without_thread(like), like->thread);
    struct dh_lock_request *r = find_request(o, key);
    if (!r)
        r = add_request(o, like, key);
    r->last = like->last;
    if (add_snapshot(r, now))
        search(o, r);
}

void dh_lock_order_free(struct dh_lock_order *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->cap_nodes; i++)
        while (o->nodes[i])
            dh_lock_order_forget(o, o->nodes[i]->lock);
    for (size_t i = 0; i < o->cap_requests; i++)
        while (o->table[i])
            kill_request(o, o->table[i]);
    for (size_t i = 0; i < o->threads.n; i++)
        if (o->threads.at[i]) {
            sweep(o->threads.at[i]);
            dh_vec_release(o->threads.at[i]);
            free(o->threads.at[i]);
        }
    free(o->nodes);
    free(o->table);
    free(o->alike);
    dh_vec_release(&o->threads);
    dh_vec_release(&o->told);
    dh_online_scc_free(o->cycles);
    free(o);
}
