#include "detect/lock_order.h"
#include "base/alloc.h"

#include "base/map.h"
#include "base/set.h"
#include "detect/online_scc.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 20000, /* of one search */
    STEPS_LEAST = 300,
    STEPS_EACH = 100,
    PATIENCE = 64,
    JOINS_MOST = 16 /* joins of threads that join */
};

typedef DH_VEC(struct dh_lock_request *) requests;

struct node {
    uint64_t lock;
    uint32_t id, vertex; /* vertex of `cycles` */
    requests holders, wanters;
};

/* Requests that differ in nothing but the thread. */
struct dh_similar_requests {
    uint64_t key;
    uint32_t n;
    struct dh_lock_request *oldest, *newest;
};

struct dh_lock_order {
    dh_cycle_found *found;
    void *arg;
    struct dh_u64_map requests; /* by key */
    struct dh_u64_map nodes;    /* by lock */
    struct dh_u64_map similar;  /* by key without the thread */
    DH_VEC(requests *) threads;
    struct dh_u64_set reported;   /* signatures of cycles */
    struct dh_online_scc *cycles; /* which locks are on cycles at all, if nothing excludes threads */
    uint64_t allowed, spent;      /* steps of searches */
    /* The search under way. */
    const struct dh_lock_request *path[DH_LOCK_ORDER_CYCLE_MAX];
    struct dh_hb_snapshot *when[DH_LOCK_ORDER_CYCLE_MAX];
    size_t n_path;
    unsigned steps, most_steps;
    bool found_one, goes_on; /* there are longer paths */
};

struct dh_lock_order *dh_lock_order_new(dh_cycle_found *found, void *arg)
{
    struct dh_lock_order *o = DH_NEW(struct dh_lock_order);
    o->found = found;
    o->arg = arg;
    o->cycles = dh_online_scc_new();
    return o;
}

/* ---- nodes ---- */

static void *find_pointer(const struct dh_u64_map *m, uint64_t key)
{
    uint32_t i = dh_u64_map_seek(m, key);
    return i == DH_ABSENT ? NULL : m->at[i].pointer;
}

static struct node *find_node(const struct dh_lock_order *o, uint64_t lock)
{
    return find_pointer(&o->nodes, lock);
}

/* An address that became another lock loses its past. */
static struct node *get_node(struct dh_lock_order *o, uint64_t lock, uint32_t id)
{
    struct node *n = find_node(o, lock);
    if (n && n->id != id) {
        dh_lock_order_forget(o, lock);
        n = NULL;
    }
    if (n)
        return n;
    n = DH_NEW(struct node);
    *n = (struct node){.lock = lock, .id = id, .vertex = dh_online_scc_add_vertex(o->cycles)};
    dh_u64_map_append(&o->nodes, lock)->pointer = n;
    return n;
}

/* ---- requests ---- */

/* Where no place is known, the calling context distinguishes places. */
static uint64_t place_of(uint32_t site, uint32_t ctx)
{
    return site == DH_NO_PLACE ? (uint64_t)ctx << 32 | site : site;
}

static uint64_t key_without_thread(const struct dh_lock_request *r)
{
    uint64_t h =
        dh_hash_combine(dh_hash_combine(dh_hash_combine(r->lock, r->id), r->shared), place_of(r->site, r->ctx));
    if (!r->lock)
        h = dh_hash_combine(h, r->joined);
    for (uint32_t i = 0; i < r->n_held; i++)
        h = dh_hash_combine(dh_hash_combine(h, (uint64_t)r->held[i].id << 1 | r->held[i].shared),
                            place_of(r->held[i].site, r->held[i].ctx));
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

static void leave_similar(struct dh_lock_order *o, struct dh_lock_request *r)
{
    struct dh_similar_requests *a = r->similar;
    *(r->similar_before ? &r->similar_before->similar_after : &a->oldest) = r->similar_after;
    *(r->similar_after ? &r->similar_after->similar_before : &a->newest) = r->similar_before;
    if (--a->n)
        return;
    dh_u64_map_remove(&o->similar, a->key);
    free(a);
}

/* It stays in the lists until they are next swept. */
static void kill_request(struct dh_lock_order *o, struct dh_lock_request *r)
{
    if (r->dead)
        return;
    dh_u64_map_remove(&o->requests, r->key);
    leave_similar(o, r);
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

/* Beyond so many threads that do the same, the oldest request is implied by the others. */
static void join_similar(struct dh_lock_order *o, struct dh_lock_request *r)
{
    struct dh_u64_entry *entry = dh_u64_map_entry(&o->similar, key_without_thread(r));
    struct dh_similar_requests *a = entry->pointer;
    if (!a) {
        entry->pointer = a = DH_NEW(struct dh_similar_requests);
        a->key = entry->key;
    }
    r->similar = a;
    r->similar_before = a->newest;
    *(a->newest ? &a->newest->similar_after : &a->oldest) = r;
    a->newest = r;
    if (++a->n > DH_LOCK_ORDER_SIMILAR_MAX)
        kill_request(o, a->oldest);
}

/* A join waits for whatever the joined thread waits for, all of which is known by then. */
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
    /* Nodes first: one whose address became another lock kills requests. */
    for (uint32_t i = 0; i < like->n_held; i++)
        get_node(o, like->held[i].lock, like->held[i].id);
    struct node *wanted = like->lock ? get_node(o, like->lock, like->id) : NULL;
    struct dh_lock_request *r = DH_NEW(struct dh_lock_request);
    *r = *like;
    r->held = dh_xcalloc(like->n_held ? like->n_held : 1, sizeof *r->held);
    if (like->n_held)
        memcpy(r->held, like->held, like->n_held * sizeof *r->held);
    r->key = key;
    r->listed = 1;
    dh_u64_map_append(&o->requests, key)->pointer = r;
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
    join_similar(o, r);
    return r;
}

/* False: it was added before. */
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
    dh_u64_map_remove(&o->nodes, lock);
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

static const struct dh_lock_hold *find_hold(const struct dh_lock_request *r, uint64_t lock, bool shared)
{
    for (uint32_t i = 0; i < r->n_held; i++)
        if (r->held[i].lock == lock)
            return r->held[i].shared && shared ? NULL : &r->held[i];
    return NULL;
}

/* `waiter` would wait for what `holder` has or is. */
static bool waits_for(const struct dh_lock_request *waiter, const struct dh_lock_request *holder)
{
    return waiter->lock ? find_hold(holder, waiter->lock, waiter->shared) != NULL : waiter->joined == holder->thread;
}

static requests *blockers(struct dh_lock_order *o, const struct dh_lock_request *r)
{
    if (!r->lock)
        return r->joined < o->threads.n ? o->threads.at[r->joined] : NULL;
    struct node *n = find_node(o, r->lock);
    return n ? &n->holders : NULL;
}

/* Whether it is on a cycle if nothing excludes threads; most are not. */
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

/* A gate lock: both cannot be there at once, since one would have to wait for the other before. */
static bool have_gate_lock(const struct dh_lock_request *a, const struct dh_lock_request *b)
{
    for (uint32_t i = 0; i < a->n_held; i++)
        if (find_hold(b, a->held[i].lock, a->held[i].shared))
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
        if (o->path[i]->thread == r->thread || have_gate_lock(o->path[i], r))
            return false;
    return true;
}

/* Cycles of other instances at the same places are one to a reader of the report: the set of places counts. */
static uint64_t signature(const struct dh_lock_order *o)
{
    uint64_t sum = 0, parts[DH_LOCK_ORDER_CYCLE_MAX];
    size_t n = 0;
    for (size_t i = 0; i < o->n_path; i++) {
        const struct dh_lock_request *r = o->path[i], *before = o->path[(i ? i : o->n_path) - 1];
        const struct dh_lock_hold *h = before->lock ? find_hold(r, before->lock, before->shared) : NULL;
        uint64_t part =
            dh_hash_combine(dh_hash_combine(1, place_of(r->site, r->ctx)), h ? place_of(h->site, h->ctx) : UINT64_MAX);
        size_t k = 0;
        while (k < n && parts[k] != part)
            k++;
        if (k == n)
            sum += parts[n++] = part;
    }
    return sum;
}

static void closed(struct dh_lock_order *o)
{
    o->found_one = true;
    if (dh_u64_set_add(&o->reported, signature(o)))
        o->found(o->arg, o->path, o->n_path);
}

static void extend(struct dh_lock_order *o, size_t length)
{
    const struct dh_lock_request *last = o->path[o->n_path - 1];
    const requests *next = blockers(o, last);
    for (size_t i = 0; next && i < next->n && !o->found_one && o->steps < o->most_steps; i++) {
        struct dh_lock_request *r = next->at[i];
        o->steps++;
        if (r->dead || !waits_for(last, r) || !fits_path(o, r))
            continue;
        bool closes = waits_for(r, o->path[0]);
        struct dh_hb_snapshot *when = snapshot_beside_path(o, r);
        if (!when || (closes && o->n_path + 1 < length)) /* shorter ones were searched for before */
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

/* Bounds the total: some steps for each request on average. */
static unsigned steps_allowed(const struct dh_lock_order *o)
{
    uint64_t left = o->allowed > o->spent ? o->allowed - o->spent : 0;
    return left < STEPS_LEAST ? STEPS_LEAST : left < STEPS ? (unsigned)left : STEPS;
}

/* After many searches without result, only few more are made. */
static bool is_worth(struct dh_lock_request *r)
{
    uint32_t n = r->fruitless++;
    return n < PATIENCE || !(n & (n - 1));
}

/* The shortest cycle through the newest snapshot of the request. */
static void search(struct dh_lock_order *o, struct dh_lock_request *r)
{
    o->allowed += STEPS_EACH;
    if (r->reported || !may_be_in_cycle(o, r) || !is_worth(r))
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
    r->reported = o->found_one;
}

void dh_lock_order_request(struct dh_lock_order *o, const struct dh_lock_request *like, struct dh_hb_snapshot *now)
{
    uint64_t key = dh_hash_combine(key_without_thread(like), like->thread);
    struct dh_lock_request *r = find_pointer(&o->requests, key);
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
    while (o->nodes.n)
        dh_lock_order_forget(o, o->nodes.at[0].key);
    while (o->requests.n)
        kill_request(o, o->requests.at[0].pointer);
    for (size_t i = 0; i < o->threads.n; i++)
        if (o->threads.at[i]) {
            sweep(o->threads.at[i]);
            dh_vec_release(o->threads.at[i]);
            free(o->threads.at[i]);
        }
    dh_u64_map_release(&o->nodes);
    dh_u64_map_release(&o->requests);
    dh_u64_map_release(&o->similar);
    dh_vec_release(&o->threads);
    dh_u64_set_release(&o->reported);
    dh_online_scc_free(o->cycles);
    free(o);
}
