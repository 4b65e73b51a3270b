#include "detect/ownership.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A granule that several small objects share: the world is asked each time. */
#define SEVERAL UINT32_MAX

/* What a thread accessed last of what is its own: on its stack, elsewhere. */
struct own {
    uint64_t at, size, version;
};

struct dh_ownership {
    struct dh_run_state *world;
    void (*drop)(void *, struct dh_owned_object *);
    void *arg;
    struct dh_granule_map granules; /* ids */
    DH_VEC(struct dh_owned_object *) all;
    DH_VEC(uint32_t) unused;
    struct dh_owned_object **buckets; /* by first address */
    size_t n, n_buckets;
    DH_VEC(uint32_t) parted; /* stacks that others accessed, by number of object */
    struct {
        struct own of[2];
    } *own; /* by thread */
    size_t n_own;
    uint64_t version; /* changes when an object ends or is shared */
    /* of the question that is asked */
    uint64_t addr;
    uint32_t thread;
    struct dh_owned_object *answer;
};

static void *checked(void *p)
{
    if (!p)
        abort();
    return p;
}

struct dh_ownership *dh_ownership_new(struct dh_run_state *w, void (*drop)(void *arg, struct dh_owned_object *o),
                                      void *arg)
{
    struct dh_ownership *s = checked(calloc(1, sizeof *s));
    s->world = w;
    s->drop = drop;
    s->arg = arg;
    dh_granule_map_init(&s->granules);
    dh_vec_push(&s->all, NULL);
    return s;
}

void dh_ownership_free(struct dh_ownership *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->all.n; i++)
        if (s->all.at[i]) {
            s->drop(s->arg, s->all.at[i]);
            free(s->all.at[i]);
        }
    dh_granule_map_release(&s->granules, NULL, NULL);
    dh_vec_release(&s->all);
    dh_vec_release(&s->unused);
    dh_vec_release(&s->parted);
    free(s->own);
    free(s->buckets);
    free(s);
}

/* ---- objects by first address ---- */

static struct dh_owned_object **bucket_of(const struct dh_ownership *s, uint64_t at)
{
    return &s->buckets[(at * 0x9e3779b97f4a7c15u) >> 24 & (s->n_buckets - 1)];
}

static void rehash(struct dh_ownership *s)
{
    free(s->buckets);
    s->n_buckets = s->n_buckets ? 2 * s->n_buckets : 64;
    s->buckets = checked(calloc(s->n_buckets, sizeof *s->buckets));
    for (size_t i = 1; i < s->all.n; i++) {
        struct dh_owned_object *o = s->all.at[i];
        if (!o)
            continue;
        struct dh_owned_object **at = bucket_of(s, o->at);
        o->next = *at;
        *at = o;
    }
}

static struct dh_owned_object *add(struct dh_ownership *s, struct dh_owned_object new)
{
    struct dh_owned_object *o = checked(malloc(sizeof *o));
    if (s->n >= s->n_buckets)
        rehash(s);
    if (s->unused.n) {
        new.id = s->unused.at[--s->unused.n];
    } else {
        dh_vec_push(&s->all, NULL);
        new.id = (uint32_t)s->all.n - 1;
    }
    struct dh_owned_object **at = bucket_of(s, new.at);
    new.next = *at;
    *o = new;
    *at = s->all.at[new.id] = o;
    s->n++;
    return o;
}

static void unname(struct dh_ownership *s, uint32_t id)
{
    struct dh_owned_object *o = id && id != SEVERAL ? s->all.at[id] : NULL;
    if (!o || --o->refs)
        return;
    struct dh_owned_object **at = bucket_of(s, o->at);
    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    s->all.at[id] = NULL;
    dh_vec_push(&s->unused, id);
    s->answer = s->answer == o ? NULL : s->answer;
    s->n--;
    s->version++;
    s->drop(s->arg, o);
    free(o);
}

/* ---- asking ---- */

static bool is_parted(const struct dh_ownership *s, uint32_t number)
{
    for (size_t i = 0; i < s->parted.n; i++)
        if (s->parted.at[i] == number)
            return true;
    return false;
}

static struct dh_owned_object whole_of(struct dh_ownership *s)
{
    const struct dh_object *o = dh_run_find_object(s->world, s->addr);
    struct dh_owned_object new = {.at = s->addr & ~(uint64_t)(DH_GRANULE_BYTES - 1), .size = DH_GRANULE_BYTES};
    new.local = o && (o->region == DH_MEMORY_STACK || o->region == DH_MEMORY_TLS);
    new.number = o ? o->number : 0;
    new.owner = !o ? s->thread : o->region == DH_MEMORY_GLOBAL ? 0 : o->thread;
    if (o && !(new.local &&is_parted(s, o->number))) {
        new.at = o->at;
        new.size = o->size;
    }
    return new;
}

/* What is accessed next is often of the same object; objects do not overlap. */
static bool is_as_before(const struct dh_ownership *s)
{
    const struct dh_owned_object *o = s->answer;
    return o && o->number && !o->local && s->addr - o->at < o->size;
}

static struct dh_owned_object *ask(struct dh_ownership *s)
{
    if (is_as_before(s))
        return s->answer;
    struct dh_owned_object new = whole_of(s);
    for (struct dh_owned_object *o = s->n_buckets ? *bucket_of(s, new.at) : NULL; o; o = o->next)
        if (o->at == new.at && o->size == new.size && o->number == new.number)
            return o;
    return add(s, new);
}

static uint32_t name_step(void *arg, uint32_t id, uint64_t granule, unsigned mask)
{
    struct dh_ownership *s = arg;
    struct dh_owned_object *o = id && id != SEVERAL ? s->all.at[id] : NULL;
    (void)mask;
    if (!o || s->addr - o->at >= o->size)
        o = ask(s);
    s->answer = o;
    if (id == o->id || id == SEVERAL)
        return id;
    bool alone = o->at <= granule && o->at + o->size >= granule + DH_GRANULE_BYTES;
    o->refs++;
    if (id && !alone) /* what it was named after lives on, as it is there still */
        return SEVERAL;
    unname(s, id);
    return o->id;
}

static struct dh_owned_object *answer(struct dh_ownership *s, uint64_t addr, uint32_t thread)
{
    const uint32_t *cell = dh_granule_map_prefetch(&s->granules, addr);
    struct dh_owned_object *o = cell && *cell && *cell != SEVERAL ? s->all.at[*cell] : NULL;
    s->addr = addr;
    s->thread = thread;
    if (o && addr - o->at < o->size)
        return s->answer = o;
    dh_granule_map_update(&s->granules, addr, 1, name_step, s);
    return s->answer;
}

static void remember_own(struct dh_ownership *s, const struct dh_owned_object *o)
{
    if (s->thread >= DH_RUN_THREADS_MAX)
        return;
    if (s->thread >= s->n_own) {
        size_t n = s->thread + 16;
        s->own = checked(realloc(s->own, n * sizeof *s->own));
        memset(s->own + s->n_own, 0, (n - s->n_own) * sizeof *s->own);
        s->n_own = n;
    }
    s->own[s->thread].of[o->local] = (struct own){o->at, o->size, s->version};
}

struct dh_owned_object *dh_ownership_access(struct dh_ownership *s, uint64_t addr, uint32_t thread)
{
    struct dh_owned_object *o = answer(s, addr, thread);
    if (o->local && o->owner != thread && o->size > DH_GRANULE_BYTES) {
        dh_vec_push(&s->parted, o->number);
        dh_ownership_forget(s, o->at, o->size);
        o = answer(s, addr, thread);
    }
    if (o->owner != thread && !o->shared) {
        o->shared = true;
        s->version++;
    } else if (!o->shared) {
        remember_own(s, o);
    }
    return o;
}

bool dh_ownership_is_own(const struct dh_ownership *s, uint64_t addr, uint32_t thread, bool *local)
{
    for (int i = 0; thread < s->n_own && i < 2; i++) {
        const struct own *own = &s->own[thread].of[i];
        if (addr - own->at >= own->size || own->version != s->version)
            continue;
        *local = i;
        return true;
    }
    return false;
}

static uint32_t forget_step(void *arg, uint32_t id, uint64_t granule, unsigned mask)
{
    (void)granule;
    (void)mask;
    unname(arg, id);
    return 0;
}

void dh_ownership_forget(struct dh_ownership *s, uint64_t addr, uint64_t size)
{
    dh_granule_map_visit(&s->granules, addr, size, forget_step, s);
}
