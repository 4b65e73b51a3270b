#include "finding/suspicion_record.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OF_TRACE "trace" /* the virtual module of places that only the stream defines */
#define FRAMES_MOST 256u

/* Role and flags in a finding, by operation. */
static const struct {
    uint32_t role, flags;
} roles[DH_OP_COUNT] = {
    [DH_OP_NONE] = {DH_ROLE_SCOPE, 0},
    [DH_OP_READ] = {DH_ROLE_ACCESS, 0},
    [DH_OP_WRITE] = {DH_ROLE_ACCESS, DH_LOG_WRITE},
    [DH_OP_ATOMIC_LOAD] = {DH_ROLE_ACCESS, DH_LOG_ATOMIC},
    [DH_OP_ATOMIC_STORE] = {DH_ROLE_ACCESS, DH_LOG_ATOMIC | DH_LOG_WRITE},
    [DH_OP_ATOMIC_RMW] = {DH_ROLE_ACCESS, DH_LOG_ATOMIC | DH_LOG_WRITE},
    [DH_OP_ATOMIC_CAS] = {DH_ROLE_ACCESS, DH_LOG_ATOMIC | DH_LOG_WRITE},
    [DH_OP_FENCE] = {DH_ROLE_CALL, 0},
    [DH_OP_COPY] = {DH_ROLE_ACCESS, DH_LOG_WRITE},
    [DH_OP_MOVE] = {DH_ROLE_ACCESS, DH_LOG_WRITE},
    [DH_OP_SET] = {DH_ROLE_ACCESS, DH_LOG_WRITE},
    [DH_OP_ALLOC] = {DH_ROLE_ACCESS, DH_LOG_WRITE | DH_LOG_ALLOC},
    [DH_OP_REALLOC] = {DH_ROLE_ACCESS, DH_LOG_WRITE | DH_LOG_ALLOC},
    [DH_OP_MAP] = {DH_ROLE_ACCESS, DH_LOG_WRITE | DH_LOG_ALLOC},
    [DH_OP_FREE] = {DH_ROLE_ACCESS, DH_LOG_WRITE | DH_LOG_FREE},
    [DH_OP_UNMAP] = {DH_ROLE_ACCESS, DH_LOG_WRITE | DH_LOG_FREE},
    [DH_OP_LOCK] = {DH_ROLE_LOCK, 0},
    [DH_OP_TRYLOCK] = {DH_ROLE_LOCK, 0},
    [DH_OP_RDLOCK] = {DH_ROLE_RDLOCK, 0},
    [DH_OP_TRYRDLOCK] = {DH_ROLE_RDLOCK, 0},
    [DH_OP_UNLOCK] = {DH_ROLE_UNLOCK, 0},
    [DH_OP_LOCK_INIT] = {DH_ROLE_CALL, 0},
    [DH_OP_LOCK_DESTROY] = {DH_ROLE_DESTROY, 0},
    [DH_OP_COND_WAIT] = {DH_ROLE_COND_WAIT, 0},
    [DH_OP_COND_SIGNAL] = {DH_ROLE_COND_SIGNAL, 0},
    [DH_OP_COND_BROADCAST] = {DH_ROLE_COND_BROADCAST, 0},
    [DH_OP_BARRIER_WAIT] = {DH_ROLE_BARRIER_WAIT, 0},
    [DH_OP_SEM_WAIT] = {DH_ROLE_SEM_WAIT, 0},
    [DH_OP_SEM_POST] = {DH_ROLE_SEM_POST, 0},
    [DH_OP_ONCE] = {DH_ROLE_ONCE, 0},
    [DH_OP_THREAD_CREATE] = {DH_ROLE_CALL, 0},
    [DH_OP_THREAD_JOIN] = {DH_ROLE_JOIN, 0},
    [DH_OP_THREAD_DETACH] = {DH_ROLE_CALL, 0},
    [DH_OP_THREAD_EXIT] = {DH_ROLE_EXIT, 0},
    [DH_OP_FORK] = {DH_ROLE_CALL, 0},
    [DH_OP_SYNC_OTHER] = {DH_ROLE_OTHER_WAIT, 0},
    [DH_OP_ASM] = {DH_ROLE_ACCESS, 0},
};

/* One suspicion being converted. */
struct job {
    const struct dh_suspicion_view *view;
    const struct dh_suspicion *from;
    struct dh_suspicion_record *out;
    struct dh_site_table sites; /* of the virtual module */
};

static void *room(struct job *j, size_t n, size_t size)
{
    void *p = dh_xcalloc(n, size);
    dh_vec_push(&j->out->blocks, p);
    return p;
}

/* ---- modules ---- */

size_t dh_meta_module_of_place(const struct dh_meta *m, uint32_t place)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; m && place != DH_NO_PLACE && i < m->modules.n; i++) {
        uint32_t first = m->modules.at[i].first_place;
        if (first != UINT32_MAX && first <= place && (best == SIZE_MAX || first > m->modules.at[best].first_place))
            best = i;
    }
    return best;
}

size_t dh_meta_module_around(const struct dh_meta *m, uint64_t address)
{
    for (size_t i = 0; m && i < m->modules.n; i++)
        if (address >= m->modules.at[i].low && address < m->modules.at[i].high)
            return i;
    return SIZE_MAX;
}

/* Each once, in the record's own order; they are few. */
static uint32_t module_index(struct job *j, const char *path, const uint8_t *id)
{
    for (uint32_t i = 0; i < j->out->modules.n; i++)
        if (j->out->modules.at[i].path == path)
            return i;
    struct dh_log_module m = {.path = path};
    if (id)
        memcpy(m.id, id, sizeof m.id);
    dh_vec_push(&j->out->modules, m);
    return (uint32_t)j->out->modules.n - 1;
}

static uint32_t meta_module(struct job *j, size_t i)
{
    const struct dh_meta_module *m = &j->view->meta->modules.at[i];
    return module_index(j, m->path, m->id);
}

/* The virtual module, for places that only the stream defines. */
static uint32_t virtual_module(struct job *j, const struct dh_site_table *sites)
{
    struct dh_virtual_module made = {.name = j->view->name, .arg = j->view->name_arg};
    if (sites)
        j->sites = *sites;
    made.sites = j->sites;
    dh_modules_put_virtual(j->view->modules, OF_TRACE, &made);
    return module_index(j, OF_TRACE, NULL);
}

static struct dh_log_address code_address(struct job *j, uint64_t address)
{
    size_t i = dh_meta_module_around(j->view->meta, address);
    if (i == SIZE_MAX)
        return (struct dh_log_address){address, DH_LOG_NONE};
    return (struct dh_log_address){address - j->view->meta->modules.at[i].load, meta_module(j, i)};
}

static struct dh_log_address address_of(struct job *j, uint64_t address)
{
    struct dh_log_address a = code_address(j, address);
    if (a.module == DH_LOG_NONE && j->view->name)
        a.module = virtual_module(j, NULL);
    return a;
}

/* A place as its module numbers it. */
static void fill_place(struct job *j, uint32_t place, uint32_t *own, uint32_t *module)
{
    const struct dh_run_host *words = &j->view->words;
    const struct dh_site_table *table = NULL;
    size_t i = dh_meta_module_of_place(j->view->meta, place);
    *own = *module = DH_LOG_NONE;
    if (i != SIZE_MAX) {
        *own = place - j->view->meta->modules.at[i].first_place;
        *module = meta_module(j, i);
        return;
    }
    const struct dh_site *row = words->site && place != DH_NO_PLACE ? words->site(words->arg, place, &table) : NULL;
    if (row) {
        *own = (uint32_t)(row - table->sites);
        *module = virtual_module(j, table);
    }
}

/* ---- stacks ---- */

static const struct dh_meta_context *context_at(const struct dh_meta *m, uint32_t ctx)
{
    return m && ctx && ctx < m->contexts.n ? &m->contexts.at[ctx] : NULL;
}

/* Numbers of parents are lower, else the chain ends: it comes from a file. */
static uint32_t outer(const struct dh_meta_context *c, uint32_t ctx)
{
    return c->parent < ctx ? c->parent : 0;
}

static uint32_t depth_of(const struct dh_meta *m, uint32_t ctx)
{
    uint32_t n = 0;
    for (const struct dh_meta_context *c; (c = context_at(m, ctx)); ctx = outer(c, ctx))
        n++;
    return n;
}

/* Cuts the middle of deep recursions. */
static struct dh_log_stack stack_of(struct job *j, uint32_t ctx)
{
    const struct dh_meta *m = j->view->meta;
    uint32_t all = depth_of(m, ctx), n = all < FRAMES_MOST ? all : FRAMES_MOST, i = 0, k = 0;
    struct dh_log_address *frames = room(j, n, sizeof *frames);
    for (const struct dh_meta_context *c; (c = context_at(m, ctx)); ctx = outer(c, ctx), i++)
        if (i < n - DH_LOG_OUTER || i + DH_LOG_OUTER >= all || n == all)
            frames[k++] = code_address(j, c->return_address);
    return (struct dh_log_stack){.frames = frames, .n_frames = k, .n_cut = all - k};
}

/* ---- threads ---- */

static const struct dh_run_thread *world_thread(struct job *j, uint32_t index)
{
    const struct dh_run_thread *t = j->view->world ? dh_run_thread(j->view->world, index) : NULL;
    return t && t->index == index ? t : NULL;
}

static bool has_thread(const struct job *j, uint32_t index)
{
    for (size_t i = 0; i < j->out->threads.n; i++)
        if (j->out->threads.at[i].index == index)
            return true;
    return false;
}

/* With its ancestors. */
static void add_thread(struct job *j, uint32_t index)
{
    const struct dh_meta *m = j->view->meta;
    while (index != UINT32_MAX && !has_thread(j, index)) {
        const struct dh_meta_thread *t = m && index < m->threads.n ? &m->threads.at[index] : NULL;
        const struct dh_run_thread *w = world_thread(j, index);
        struct dh_log_thread out = {.index = index, .name = t && t->name ? t->name : ""};
        out.parent = !index ? DH_LOG_NONE : t ? t->parent : w ? w->parent : DH_LOG_NONE;
        out.flags = w && w->ended ? DH_LOG_FINISHED : 0;
        out.created = stack_of(j, t ? t->ctx : 0);
        dh_vec_push(&j->out->threads, out);
        index = out.parent;
    }
}

/* ---- accesses ---- */

static void add_locks(struct job *j, const struct dh_suspect *from, struct dh_log_access *a)
{
    struct dh_log_lock *locks = room(j, from->n_locks, sizeof *locks);
    for (size_t i = 0; i < from->n_locks; i++) {
        const struct dh_lock_hold *h = &from->locks[i];
        locks[i] = (struct dh_log_lock){.address = h->lock, .where = address_of(j, h->lock), .shared = h->shared};
        fill_place(j, h->site, &locks[i].place, &locks[i].module);
        locks[i].taken = stack_of(j, h->ctx);
    }
    a->locks = locks;
    a->n_locks = (uint32_t)from->n_locks;
}

static void add_access(struct job *j, const struct dh_suspect *from)
{
    struct dh_log_finding *f = &j->out->finding;
    struct dh_log_access *a = &f->access[f->n_accesses++];
    unsigned op = from->op < DH_OP_COUNT ? from->op : DH_OP_NONE;
    *a = (struct dh_log_access){
        .thread = from->thread,
        .flags = roles[op].flags | (from->flags & DH_EVENT_BY_LIBRARY ? DH_LOG_BY_LIBRARY : 0),
        .role = roles[op].role,
        .size = from->size < UINT32_MAX ? (uint32_t)from->size : UINT32_MAX,
        .address = from->addr,
        .note = from->note ? from->note : "",
    };
    if (a->role == DH_ROLE_LOCK && from->flags & DH_EVENT_SHARED)
        a->role = DH_ROLE_RDLOCK;
    a->where = a->role == DH_ROLE_JOIN ? (struct dh_log_address){from->addr, DH_LOG_NONE} : address_of(j, from->addr);
    fill_place(j, from->site, &a->place, &a->module);
    a->stack = stack_of(j, from->ctx);
    add_locks(j, from, a);
    add_thread(j, from->thread);
    if (a->role == DH_ROLE_JOIN && from->addr < DH_RUN_THREADS_MAX)
        add_thread(j, (uint32_t)from->addr);
}

/* ---- the object ---- */

/* A suspicion may be reported after its object was freed and the address reused: the number identifies the object. */
static const struct dh_object *object_of(const struct job *j)
{
    struct dh_run_state *w = j->view->world;
    if (!w || !j->from->addr)
        return NULL;
    return j->from->object ? dh_run_find_object_numbered(w, j->from->addr, j->from->object)
                           : dh_run_find_object(w, j->from->addr);
}

static void fill_region(struct job *j)
{
    static const enum dh_log_region regions[] = {
        [DH_MEMORY_HEAP] = DH_LOG_REGION_HEAP,     [DH_MEMORY_MAPPED] = DH_LOG_REGION_OTHER,
        [DH_MEMORY_STACK] = DH_LOG_REGION_STACK,   [DH_MEMORY_TLS] = DH_LOG_REGION_TLS,
        [DH_MEMORY_GLOBAL] = DH_LOG_REGION_GLOBAL,
    };
    struct dh_log_finding *f = &j->out->finding;
    const struct dh_object *o = object_of(j);
    f->region_thread = DH_LOG_NONE;
    f->where = address_of(j, j->from->addr);
    if (dh_meta_module_around(j->view->meta, j->from->addr) != SIZE_MAX) {
        f->region = DH_LOG_REGION_GLOBAL;
        return;
    }
    if (!o || o->region >= sizeof regions / sizeof *regions || o->region == DH_MEMORY_GLOBAL)
        return;
    f->region = regions[o->region];
    f->region_thread = o->thread;
    if (f->region == DH_LOG_REGION_HEAP) {
        f->block = o->at;
        f->n_block = o->size;
        f->allocated = stack_of(j, o->ctx);
    }
    add_thread(j, o->thread);
}

/* ---- all of it ---- */

struct dh_log_process dh_suspicion_process(const struct dh_meta *m)
{
    struct dh_log_process p = {.path = m && m->program ? m->program : "",
                               .original = m && m->original ? m->original : "",
                               .variant = m && m->variant ? m->variant : "",
                               .pid = m ? m->pid : 0,
                               .time = m ? m->started : 0};
    if (m && m->modules.n)
        memcpy(p.id, m->modules.at[0].id, sizeof p.id);
    return p;
}

struct dh_suspicion_record *dh_suspicion_record(const struct dh_suspicion_view *view, const char *detector,
                                                const struct dh_suspicion *from)
{
    struct dh_suspicion_record *r = DH_NEW(struct dh_suspicion_record);
    struct job j = {.view = view, .from = from, .out = r};
    struct dh_log_finding *f = &r->finding;
    f->kind = from->kind;
    f->level = from->level == DH_LEVEL_OBSERVED ? DH_LEVEL_OBSERVED : DH_LEVEL_SUSPECTED;
    f->time = view->meta && view->meta->started ? view->meta->started : (uint64_t)time(NULL);
    f->detector = detector;
    f->text = from->text ? from->text : "";
    f->key = from->key ? from->key : "";
    f->address = from->addr;
    f->size = from->size < UINT32_MAX ? (uint32_t)from->size : UINT32_MAX;
    for (size_t i = 0; i < from->n_suspects && i < DH_LOG_ACCESSES; i++)
        add_access(&j, &from->suspects[i]);
    fill_region(&j);
    f->threads = r->threads.at;
    f->n_threads = (uint32_t)r->threads.n;
    f->modules = r->modules.at;
    f->n_modules = (uint32_t)r->modules.n;
    return r;
}

void dh_suspicion_record_free(struct dh_suspicion_record *r)
{
    for (size_t i = 0; i < r->blocks.n; i++)
        free(r->blocks.at[i]);
    dh_vec_release(&r->blocks);
    dh_vec_release(&r->modules);
    dh_vec_release(&r->threads);
    free(r);
}
