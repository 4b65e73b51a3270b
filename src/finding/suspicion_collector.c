#include "finding/suspicion_collector.h"

#include "base/str.h"
#include "event/finding_log.h"
#include "finding/modules.h"
#include "finding/resolve.h"
#include "finding/section_facts.h"
#include "finding/suspicion_record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define BYTES (1u << 20)
#define NOWHERE_BITS 12

struct told {
    char id[17];
    enum dh_suspicion_level level;
};

struct dh_suspicion_collector {
    const struct dh_meta *meta;
    struct dh_finding_sink sink;
    struct dh_world_host words; /* what it lacks the modules are asked */
    char *(*name)(void *arg, uint64_t addr);
    void *name_arg;
    struct dh_world *world;
    struct dh_finding_resolver *resolver;
    struct dh_modules *modules;
    DH_VEC(struct dh_known_module *) known; /* as meta's */
    struct {
        size_t n_modules, module; /* of `n_modules` that there were */
        uint32_t from, to;        /* its places */
    } last;
    struct dh_section_facts scopes;
    DH_VEC(uint64_t) seen; /* hashes, sorted */
    DH_VEC(struct told) told;
    uint64_t nowhere[1u << NOWHERE_BITS]; /* addresses that are in no variable */
    int log;
    bool introduced; /* whose findings the log has */
    unsigned count, lost;
};

struct dh_suspicion_collector *dh_suspicion_collector_new(const struct dh_meta *meta,
                                                          const struct dh_finding_sink *sink)
{
    struct dh_suspicion_collector *s = calloc(1, sizeof *s);
    if (!s)
        abort();
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
    dh_vec_release(&s->seen);
    dh_vec_release(&s->told);
    free(s);
}

void dh_suspicion_collector_set_sites(struct dh_suspicion_collector *s, const struct dh_world_host *words)
{
    s->words = *words;
}

void dh_suspicion_collector_set_namer(struct dh_suspicion_collector *s, char *(*name)(void *arg, uint64_t addr),
                                      void *arg)
{
    s->name = name;
    s->name_arg = arg;
}

void dh_suspicion_collector_set_world(struct dh_suspicion_collector *s, struct dh_world *w)
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

/* ---- what places and addresses mean ---- */

static struct dh_known_module *known_module(struct dh_suspicion_collector *s, size_t i)
{
    while (s->known.n <= i)
        dh_vec_push(&s->known, NULL);
    if (!s->known.at[i])
        s->known.at[i] = dh_modules_get(s->modules, s->meta->modules.at[i].path, s->meta->modules.at[i].id);
    return s->known.at[i];
}

/* Detectors ask of every access, and most are of one module. */
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

struct dh_known_module *dh_suspicion_collector_module(struct dh_suspicion_collector *s, uint32_t place,
                                                      uint32_t *own_place)
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
    struct dh_known_module *m = dh_suspicion_collector_module(s, place, &own);
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
    uint64_t *nowhere = &s->nowhere[addr * 0x9e3779b97f4a7c15u >> (64 - NOWHERE_BITS)];
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
    const struct dh_known_module *m = dh_suspicion_collector_module(s, place, &own);
    return m ? dh_section_may_access(&s->scopes, m, own, write, n) : NULL;
}

/* Values do not go from one module to another as far as anybody knows. */
static int flow(void *arg, uint32_t read, uint32_t lock)
{
    struct dh_suspicion_collector *s = arg;
    uint32_t own_read, own_lock = DH_NO_PLACE;
    if (s->words.site)
        return s->words.flow ? s->words.flow(s->words.arg, read, lock) : -1;
    const struct dh_known_module *m = dh_suspicion_collector_module(s, read, &own_read);
    if (!m)
        return -1;
    if (lock != DH_NO_PLACE && dh_suspicion_collector_module(s, lock, &own_lock) != m)
        return 0;
    return dh_section_value_flow(m, own_read, own_lock);
}

static uint32_t may_wait(void *arg, uint32_t lock, unsigned n, bool *nobody_signals)
{
    struct dh_suspicion_collector *s = arg;
    uint32_t own;
    *nobody_signals = false;
    const struct dh_known_module *m = s->words.site ? NULL : dh_suspicion_collector_module(s, lock, &own);
    uint32_t wait = m ? dh_section_may_wait(m, own, n, nobody_signals) : DH_NO_PLACE;
    return wait == DH_NO_PLACE ? wait : wait + (lock - own);
}

/* ---- each once ---- */

/* As the detectors repeat themselves: without names, which take long to find out. */
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

/* True when it was there; else it is now. */
static bool was_seen(struct dh_suspicion_collector *s, uint64_t hash)
{
    size_t low = 0, high = s->seen.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->seen.at[mid] < hash)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < s->seen.n && s->seen.at[low] == hash)
        return true;
    dh_vec_push(&s->seen, 0);
    memmove(&s->seen.at[low + 1], &s->seen.at[low], (s->seen.n - 1 - low) * sizeof *s->seen.at);
    s->seen.at[low] = hash;
    return false;
}

static struct told *find_told(struct dh_suspicion_collector *s, const char *id)
{
    for (size_t i = 0; i < s->told.n; i++)
        if (strcmp(s->told.at[i].id, id) == 0)
            return &s->told.at[i];
    return NULL;
}

/* Whether it says something new: another finding, or one that rises. */
static bool is_news(struct dh_suspicion_collector *s, const struct dh_finding *f, enum dh_suspicion_level level,
                    bool *first)
{
    struct told *before = find_told(s, f->id);
    *first = !before;
    if (before && before->level >= level)
        return false;
    if (!before) {
        struct told new = {.level = level};
        memcpy(new.id, f->id, strnlen(f->id, sizeof new.id - 1));
        dh_vec_push(&s->told, new);
    } else
        before->level = level;
    return true;
}

/* ---- the log ---- */

static bool write_all(int fd, const uint8_t *at, size_t n)
{
    while (n) {
        ssize_t done = write(fd, at, n);
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* The process comes before its first finding: by then its modules are known. */
static void write_record(struct dh_suspicion_collector *s, const struct dh_log_process *p,
                         const struct dh_log_finding *record)
{
    uint8_t *bytes = s->log >= 0 ? malloc(BYTES) : NULL;
    struct dh_log_out o = {bytes, 0, BYTES, false};
    if (!bytes)
        return;
    if (!s->introduced)
        dh_log_put_process(&o, p);
    dh_log_put_finding(&o, record);
    bool written = write_all(s->log, bytes, o.n);
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
    if (s->log < 0 || (lseek(s->log, 0, SEEK_END) == 0 && !write_all(s->log, bytes, o.n)))
        return dh_err_errno(err, "cannot write %s", path);
    return true;
}

/* ---- what a world says ---- */

static void found(void *arg, const char *detector, const void *suspicion)
{
    struct dh_suspicion_collector *s = arg;
    const struct dh_suspicion *from = suspicion;
    struct dh_log_process p = dh_suspicion_process(s->meta);
    struct dh_suspicion_view view = {s->meta, s->words, s->name, s->name_arg, s->world, s->modules};
    struct dh_finding f;
    bool first;
    if (was_seen(s, hash_of(detector, from)))
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

void dh_suspicion_collector_fill_host(struct dh_suspicion_collector *s, struct dh_world_host *host)
{
    host->site = site_of;
    host->global = global_of;
    host->may_access = may_access;
    host->flow = flow;
    host->may_wait = may_wait;
    host->found = found;
    host->arg = s;
}
