#include "finding/suspicion_collector.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/set.h"
#include "event/finding_log.h"
#include "finding/modules.h"
#include "finding/resolve.h"
#include "finding/section_facts.h"
#include "finding/suspicion_record.h"
#include "host/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define BYTES (1u << 20)
#define NOWHERE_BITS 12

struct reported {
    char id[17];
    enum dh_finding_level level;
};

struct dh_suspicion_collector {
    const struct dh_meta *meta;
    struct dh_finding_sink sink;
    struct dh_run_host words; /* callbacks that replace the modules' tables */
    char *(*name)(void *arg, uint64_t addr);
    void *name_arg;
    struct dh_run_state *world;
    struct dh_finding_resolver *resolver;
    struct dh_modules *modules;
    DH_VEC(struct dh_known_module *) known; /* as meta's */
    struct {
        size_t n_modules, module; /* of `n_modules` that there were */
        uint32_t from, to;        /* its places */
    } last;
    struct dh_section_facts scopes;
    struct dh_u64_set seen; /* hashes of suspicions */
    DH_VEC(struct reported) reported;
    uint64_t nowhere[1u << NOWHERE_BITS]; /* cache of addresses in no variable */
    int log;
    bool introduced; /* the log has the process's record */
    unsigned count, lost;
};

struct dh_suspicion_collector *dh_suspicion_collector_new(const struct dh_meta *meta,
                                                          const struct dh_finding_sink *sink)
{
    struct dh_suspicion_collector *s = DH_NEW(struct dh_suspicion_collector);
    s->meta = meta;
    s->sink = *sink;
    s->resolver = dh_resolver_new();
    s->modules = dh_resolver_modules(s->resolver);
    s->log = -1;
    return s;
}

void dh_suspicion_collector_free(struct dh_suspicion_collector *s)
{
    if (!s)
        return;
    if (s->log >= 0)
        close(s->log);
    dh_resolver_free(s->resolver);
    dh_vec_release(&s->known);
    dh_section_facts_release(&s->scopes);
    dh_u64_set_release(&s->seen);
    dh_vec_release(&s->reported);
    free(s);
}

void dh_suspicion_collector_set_sites(struct dh_suspicion_collector *s, const struct dh_run_host *words)
{
    s->words = *words;
}

void dh_suspicion_collector_set_namer(struct dh_suspicion_collector *s, char *(*name)(void *arg, uint64_t addr),
                                      void *arg)
{
    s->name = name;
    s->name_arg = arg;
}

void dh_suspicion_collector_set_world(struct dh_suspicion_collector *s, struct dh_run_state *w)
{
    s->world = w;
}

unsigned dh_suspicion_collector_count(const struct dh_suspicion_collector *s)
{
    return s->count;
}

unsigned dh_suspicion_collector_lost(const struct dh_suspicion_collector *s)
{
    return s->lost;
}

/* ---- sites and variables ---- */

static struct dh_known_module *known_module(struct dh_suspicion_collector *s, size_t i)
{
    while (s->known.n <= i)
        dh_vec_push(&s->known, NULL);
    if (!s->known.at[i])
        s->known.at[i] = dh_modules_get(s->modules, s->meta->modules.at[i].path, s->meta->modules.at[i].id);
    return s->known.at[i];
}

/* Called for every access; most are of one module. */
static size_t module_of_place(struct dh_suspicion_collector *s, uint32_t place)
{
    if (s->meta && s->last.n_modules == s->meta->modules.n && place >= s->last.from && place < s->last.to)
        return s->last.module;
    size_t i = dh_meta_module_of_place(s->meta, place);
    if (i == SIZE_MAX)
        return i;
    uint32_t from = s->meta->modules.at[i].first_place, to = DH_NO_PLACE;
    for (size_t k = 0; k < s->meta->modules.n; k++)
        if (s->meta->modules.at[k].first_place > from && s->meta->modules.at[k].first_place < to)
            to = s->meta->modules.at[k].first_place;
    s->last.n_modules = s->meta->modules.n;
    s->last.module = i;
    s->last.from = from;
    s->last.to = to;
    return i;
}

static struct dh_known_module *find_module(struct dh_suspicion_collector *s, uint32_t place, uint32_t *own_place)
{
    size_t i = module_of_place(s, place);
    if (i == SIZE_MAX)
        return NULL;
    *own_place = place - s->meta->modules.at[i].first_place;
    return known_module(s, i);
}

static const struct dh_site *site_of(void *arg, uint32_t place, const struct dh_site_table **table)
{
    struct dh_suspicion_collector *s = arg;
    const struct dh_site_table *chains;
    uint32_t own, site, chain;
    if (s->words.site)
        return s->words.site(s->words.arg, place, table);
    struct dh_known_module *m = find_module(s, place, &own);
    *table = m ? dh_known_sites(m) : NULL;
    if (!*table || !dh_place_find(dh_known_places(m), *table, own, &site, &chain, &chains) || site == DH_NO_SITE)
        return NULL;
    return &(*table)->sites[site];
}

static bool global_of(void *arg, uint64_t addr, uint64_t *at, uint64_t *size)
{
    struct dh_suspicion_collector *s = arg;
    if (s->words.global)
        return s->words.global(s->words.arg, addr, at, size);
    size_t i = dh_meta_module_around(s->meta, addr);
    uint64_t *nowhere = &s->nowhere[dh_hash_u64(addr) >> (64 - NOWHERE_BITS)];
    if (i == SIZE_MAX || *nowhere == addr)
        return false;
    uint64_t load = s->meta->modules.at[i].load;
    bool found = dh_known_variable_extent(s->modules, known_module(s, i), addr - load, at, size);
    if (found)
        *at += load;
    else
        *nowhere = addr;
    return found;
}

static const char *const *may_access(void *arg, uint32_t place, bool write, size_t *n)
{
    struct dh_suspicion_collector *s = arg;
    uint32_t own;
    *n = 0;
    if (s->words.site)
        return s->words.may_access ? s->words.may_access(s->words.arg, place, write, n) : NULL;
    const struct dh_known_module *m = find_module(s, place, &own);
    return m ? dh_section_may_access(&s->scopes, m, own, write, n) : NULL;
}

/* Value flow is analysed within a module only. */
static int flow(void *arg, uint32_t read, uint32_t lock)
{
    struct dh_suspicion_collector *s = arg;
    uint32_t own_read, own_lock = DH_NO_PLACE;
    if (s->words.site)
        return s->words.flow ? s->words.flow(s->words.arg, read, lock) : -1;
    const struct dh_known_module *m = find_module(s, read, &own_read);
    if (!m)
        return -1;
    if (lock != DH_NO_PLACE && find_module(s, lock, &own_lock) != m)
        return 0;
    return dh_section_value_flow(m, own_read, own_lock);
}

static uint32_t may_wait(void *arg, uint32_t lock, unsigned n, bool *nobody_signals)
{
    struct dh_suspicion_collector *s = arg;
    uint32_t own;
    *nobody_signals = false;
    const struct dh_known_module *m = s->words.site ? NULL : find_module(s, lock, &own);
    uint32_t wait = m ? dh_section_may_wait(m, own, n, nobody_signals) : DH_NO_PLACE;
    return wait == DH_NO_PLACE ? wait : wait + (lock - own);
}

/* ---- duplicates ---- */

/* Filters repetitions before names are resolved, which is slow. */
static uint64_t hash_of(const char *detector, const struct dh_suspicion *from)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < from->n_suspects && i < DH_SUSPECTS; i++) {
        const struct dh_suspect *a = &from->suspects[i];
        uint32_t parts[] = {a->op, a->site, a->site == DH_NO_PLACE ? a->ctx : 0};
        sum += XXH3_64bits(parts, sizeof parts);
    }
    sum = XXH3_64bits_withSeed(detector, strlen(detector), sum);
    sum = XXH3_64bits_withSeed(from->key ? from->key : "", from->key ? strlen(from->key) : 0, sum);
    return sum ^ ((uint64_t)from->kind << 1 | from->level);
}

static struct reported *find_reported(struct dh_suspicion_collector *s, const char *id)
{
    for (size_t i = 0; i < s->reported.n; i++)
        if (strcmp(s->reported.at[i].id, id) == 0)
            return &s->reported.at[i];
    return NULL;
}

/* Whether it is a new finding, or one whose level rose. */
static bool is_news(struct dh_suspicion_collector *s, const struct dh_finding *f, enum dh_finding_level level,
                    bool *first)
{
    struct reported *before = find_reported(s, f->id);
    *first = !before;
    if (before && before->level >= level)
        return false;
    if (!before) {
        struct reported new = {.level = level};
        memcpy(new.id, f->id, strnlen(f->id, sizeof new.id - 1));
        dh_vec_push(&s->reported, new);
    } else
        before->level = level;
    return true;
}

/* ---- the log ---- */

/* The process's record comes with its first finding, when its modules are known. */
static void write_record(struct dh_suspicion_collector *s, const struct dh_log_process *p,
                         const struct dh_log_finding *record)
{
    if (s->log < 0)
        return;
    uint8_t *bytes = malloc(BYTES);
    struct dh_log_out o = {bytes, 0, BYTES, false};
    if (!bytes)
        abort();
    if (!s->introduced)
        dh_log_put_process(&o, p);
    dh_log_put_finding(&o, record);
    bool written = dh_write_all(s->log, bytes, o.n);
    s->introduced = s->introduced || written;
    s->lost += o.full || !written;
    free(bytes);
}

bool dh_suspicion_collector_open_log(struct dh_suspicion_collector *s, const char *path, struct dh_err *err)
{
    uint8_t bytes[DH_LOG_HEADER_SIZE];
    struct dh_log_out o = {bytes, 0, sizeof bytes, false};
    dh_log_put_header(&o);
    s->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (s->log < 0 || (lseek(s->log, 0, SEEK_END) == 0 && !dh_write_all(s->log, bytes, o.n)))
        return dh_err_errno(err, "cannot write %s", path);
    return true;
}

/* ---- the callbacks of a world ---- */

static void found(void *arg, const char *detector, const void *suspicion)
{
    struct dh_suspicion_collector *s = arg;
    const struct dh_suspicion *from = suspicion;
    struct dh_log_process p = dh_suspicion_process(s->meta);
    struct dh_suspicion_view view = {s->meta, s->words, s->name, s->name_arg, s->world, s->modules};
    struct dh_finding f;
    bool first;
    if (!dh_u64_set_add(&s->seen, hash_of(detector, from)))
        return;
    struct dh_suspicion_record *record = dh_suspicion_record(&view, detector, from);
    dh_resolve(s->resolver, &p, &record->finding, &f);
    if (is_news(s, &f, from->level, &first) && s->sink.found(s->sink.arg, &f)) {
        s->count += first;
        write_record(s, &p, &record->finding);
    }
    dh_finding_release(&f);
    dh_suspicion_record_free(record);
}

void dh_suspicion_collector_fill_host(struct dh_suspicion_collector *s, struct dh_run_host *host)
{
    host->site = site_of;
    host->global = global_of;
    host->may_access = may_access;
    host->flow = flow;
    host->may_wait = may_wait;
    host->found = found;
    host->arg = s;
}
