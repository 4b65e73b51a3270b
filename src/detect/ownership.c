#include "detect/ownership.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Number of a granule that several small objects share: not cached. */
#define SEVERAL UINT32_MAX

/* The object that a thread accessed last among its own: one on its stack, one elsewhere. */
struct own {
    uint64_t at, size, version;
};

struct dh_ownership {
    struct dh_run_state *run;
    void (*drop)(void *, struct dh_owned_object *);
    void *arg;
    struct dh_granule_map granules; /* ids */
    DH_VEC(struct dh_owned_object *) all;
    DH_VEC(uint32_t) unused;
    struct dh_index by_address; /* of the first byte */
    DH_VEC(uint32_t) split;     /* stacks that others accessed, by number of object */
    struct {
        struct own of[2];
    } *own; /* by thread */
    size_t n_own;
    uint64_t version; /* changes when an object ends or is shared */
    /* of the query under way */
    uint64_t addr;
    uint32_t thread;
    struct dh_owned_object *answer;
};

struct dh_ownership *dh_ownership_new(struct dh_run_state *w, void (*drop)(void *arg, struct dh_owned_object *o),
                                      void *arg)
{
    struct dh_ownership *s = DH_NEW(struct dh_ownership);
    s->run = w;
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
    dh_vec_release(&s->split);
    dh_index_release(&s->by_address);
    free(s->own);
    free(s);
}

/* ---- objects ---- */

static struct dh_owned_object *add_object(struct dh_ownership *s, struct dh_owned_object new)
{
    if (s->unused.n) {
        new.id = s->unused.at[--s->unused.n];
    } else {
        dh_vec_push(&s->all, NULL);
        new.id = (uint32_t)s->all.n - 1;
    }
    dh_index_add(&s->by_address, dh_hash_u64(new.at), new.id);
    return s->all.at[new.id] = dh_xmemdup(&new, sizeof new);
}

/* A granule does not name the object any more. */
static void unref(struct dh_ownership *s, uint32_t id)
{
    struct dh_owned_object *o = id && id != SEVERAL ? s->all.at[id] : NULL;
    if (!o || --o->refs)
        return;
    dh_index_remove(&s->by_address, dh_hash_u64(o->at), id);
    s->all.at[id] = NULL;
    dh_vec_push(&s->unused, id);
    s->answer = s->answer == o ? NULL : s->answer;
    s->version++;
    s->drop(s->arg, o);
    free(o);
}

/* ---- queries ---- */

static bool is_split(const struct dh_ownership *s, uint32_t number)
{
    for (size_t i = 0; i < s->split.n; i++)
        if (s->split.at[i] == number)
            return true;
    return false;
}

static struct dh_owned_object whole_of(struct dh_ownership *s)
{
    const struct dh_object *o = dh_run_find_object(s->run, s->addr);
    struct dh_owned_object new = {.at = s->addr & ~(uint64_t)(DH_GRANULE_BYTES - 1), .size = DH_GRANULE_BYTES};
    new.local = o && (o->region == DH_MEMORY_STACK || o->region == DH_MEMORY_TLS);
    new.number = o ? o->number : 0;
    new.owner = !o ? s->thread : o->region == DH_MEMORY_GLOBAL ? 0 : o->thread;
    if (o && !(new.local &&is_split(s, o->number))) {
        new.at = o->at;
        new.size = o->size;
    }
    return new;
}

/* The next access is often to the same object; objects do not overlap. */
static bool is_as_before(const struct dh_ownership *s)
{
    const struct dh_owned_object *o = s->answer;
    return o && o->number && !o->local && s->addr - o->at < o->size;
}

static struct dh_owned_object *find_object(struct dh_ownership *s)
{
    if (is_as_before(s))
        return s->answer;
    struct dh_owned_object new = whole_of(s);
    struct dh_probe p = dh_index_probe(&s->by_address, dh_hash_u64(new.at));
    for (uint32_t i; (i = dh_index_next(&s->by_address, &p)) != DH_ABSENT;) {
        struct dh_owned_object *o = s->all.at[i];
        if (o->at == new.at && o->size == new.size && o->number == new.number)
            return o;
    }
    return add_object(s, new);
}

static uint32_t name_step(void *arg, uint32_t id, uint64_t granule, unsigned mask)
{
    struct dh_ownership *s = arg;
    struct dh_owned_object *o = id && id != SEVERAL ? s->all.at[id] : NULL;
    (void)mask;
    if (!o || s->addr - o->at >= o->size)
        o = find_object(s);
    s->answer = o;
    if (id == o->id || id == SEVERAL)
        return id;
    bool alone = o->at <= granule && o->at + o->size >= granule + DH_GRANULE_BYTES;
    o->refs++;
    if (id && !alone) /* the object that named it before is there still, so its reference stays */
        return SEVERAL;
    unref(s, id);
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

static void cache_own(struct dh_ownership *s, const struct dh_owned_object *o)
{
    if (s->thread >= DH_RUN_THREADS_MAX)
        return;
    if (s->thread >= s->n_own) {
        size_t n = s->thread + 16;
        DH_GROW_ARRAY(s->own, n);
        memset(s->own + s->n_own, 0, (n - s->n_own) * sizeof *s->own);
        s->n_own = n;
    }
    s->own[s->thread].of[o->local] = (struct own){o->at, o->size, s->version};
}

struct dh_owned_object *dh_ownership_access(struct dh_ownership *s, uint64_t addr, uint32_t thread)
{
    struct dh_owned_object *o = answer(s, addr, thread);
    if (o->local && o->owner != thread && o->size > DH_GRANULE_BYTES) {
        dh_vec_push(&s->split, o->number);
        dh_ownership_forget(s, o->at, o->size);
        o = answer(s, addr, thread);
    }
    if (o->owner != thread && !o->shared) {
        o->shared = true;
        s->version++;
    } else if (!o->shared) {
        cache_own(s, o);
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
    unref(arg, id);
    return 0;
}

void dh_ownership_forget(struct dh_ownership *s, uint64_t addr, uint64_t size)
{
    dh_granule_map_visit(&s->granules, addr, size, forget_step, s);
}
