/* The reader's half: bytes of a file that a killed process or another program may have left. */
#include "base/alloc.h"
#include "event/finding_log.h"

#include <stdlib.h>
#include <string.h>

uint32_t dh_log_role_of_op(const char *op)
{
    uint32_t role = DH_ROLE_ACCESS + 1;
    while (role < DH_ROLE_COUNT && strcmp(dh_log_role_words(role)->op, op) != 0)
        role++;
    return role < DH_ROLE_COUNT ? role : DH_ROLE_ACCESS;
}

struct dh_log_block {
    struct dh_log_block *next;
    max_align_t content[];
};

void dh_log_memory_release(struct dh_log_memory *m)
{
    while (m->blocks) {
        struct dh_log_block *next = m->blocks->next;
        free(m->blocks);
        m->blocks = next;
    }
}

struct cursor {
    const uint8_t *at, *end;
    bool bad;
    struct dh_log_memory *memory;
    uint32_t version;
};

static const void *take(struct cursor *c, size_t n)
{
    const void *at = c->at;
    if (c->bad || n > (size_t)(c->end - c->at)) {
        c->bad = true;
        return NULL;
    }
    c->at += n;
    return at;
}

/* Leaves `to` as it was when there is not enough. */
static void take_into(struct cursor *c, void *to, size_t n)
{
    const void *at = take(c, n);
    if (at)
        memcpy(to, at, n);
}

static uint32_t take32(struct cursor *c)
{
    uint32_t value = 0;
    take_into(c, &value, sizeof value);
    return value;
}

static uint64_t take64(struct cursor *c)
{
    uint64_t value = 0;
    take_into(c, &value, sizeof value);
    return value;
}

static const char *take_text(struct cursor *c)
{
    uint32_t n = take32(c);
    const char *text = take(c, (size_t)n + 1);
    if (text && memchr(text, 0, (size_t)n + 1) == text + n)
        return text;
    c->bad = true;
    return "";
}

/* A count of items that take at least `least` bytes each, with memory for them. */
static void *take_array(struct cursor *c, uint32_t *n, size_t least, size_t item)
{
    *n = take32(c);
    if (c->bad || *n > (size_t)(c->end - c->at) / least) {
        c->bad = true;
        *n = 0;
    }
    if (!*n)
        return NULL;
    struct dh_log_block *b = dh_xcalloc(1, sizeof *b + *n * item);
    b->next = c->memory->blocks;
    c->memory->blocks = b;
    return b->content;
}

enum { LEAST_ADDRESS = 12, LEAST_STACK = 8, LEAST_LOCK = 32, LEAST_THREAD = 25, LEAST_MODULE = 21 };

static struct dh_log_address take_address(struct cursor *c)
{
    uint32_t module = take32(c);
    return (struct dh_log_address){.module = module, .offset = take64(c)};
}

static struct dh_log_stack take_stack(struct cursor *c)
{
    struct dh_log_stack s = {0};
    struct cursor ahead = *c;
    take32(&ahead);
    s.n_cut = take32(&ahead);
    struct dh_log_address *frames = take_array(c, &s.n_frames, LEAST_ADDRESS, sizeof *frames);
    take32(c);
    for (uint32_t i = 0; i < s.n_frames; i++)
        frames[i] = take_address(c);
    s.frames = frames;
    return s;
}

static struct dh_log_lock take_lock(struct cursor *c)
{
    struct dh_log_lock l = {.address = take64(c)};
    l.where = take_address(c);
    l.shared = take32(c);
    l.place = c->version > 1 ? take32(c) : DH_LOG_NONE;
    l.module = c->version > 1 ? take32(c) : DH_LOG_NONE;
    l.taken = take_stack(c);
    return l;
}

static void take_access(struct cursor *c, struct dh_log_access *a)
{
    a->thread = take32(c);
    a->flags = take32(c);
    a->role = c->version > 1 ? take32(c) : DH_ROLE_ACCESS;
    a->place = take32(c);
    a->module = take32(c);
    a->size = take32(c);
    a->address = take64(c);
    a->value = take64(c);
    a->where = c->version > 1 ? take_address(c) : (struct dh_log_address){.module = DH_LOG_NONE};
    a->note = c->version > 1 ? take_text(c) : "";
    a->stack = take_stack(c);
    struct dh_log_lock *locks = take_array(c, &a->n_locks, LEAST_LOCK, sizeof *locks);
    for (uint32_t i = 0; i < a->n_locks; i++)
        locks[i] = take_lock(c);
    a->locks = locks;
}

static void take_thread(struct cursor *c, struct dh_log_thread *t)
{
    t->index = take32(c);
    t->parent = take32(c);
    t->flags = take32(c);
    t->name = take_text(c);
    t->created = take_stack(c);
}

static void take_memory(struct cursor *c, struct dh_log_finding *f)
{
    f->address = take64(c);
    f->size = take32(c);
    f->n_held = take32(c);
    take_into(c, f->held, sizeof f->held);
    f->region = take32(c);
    f->region_thread = take32(c);
    f->where = take_address(c);
    f->block = take64(c);
    f->n_block = take64(c);
    f->allocated = take_stack(c);
}

static bool stack_ok(const struct dh_log_stack *s, uint32_t n_modules)
{
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (s->frames[i].module != DH_LOG_NONE && s->frames[i].module >= n_modules)
            return false;
    return true;
}

static bool module_ok(uint32_t module, uint32_t n_modules)
{
    return module == DH_LOG_NONE || module < n_modules;
}

static bool access_ok(const struct dh_log_access *a, uint32_t n_modules)
{
    for (uint32_t i = 0; i < a->n_locks; i++)
        if (!module_ok(a->locks[i].where.module, n_modules) || !module_ok(a->locks[i].module, n_modules) ||
            !stack_ok(&a->locks[i].taken, n_modules))
            return false;
    return a->role < DH_ROLE_COUNT && module_ok(a->module, n_modules) && module_ok(a->where.module, n_modules) &&
           stack_ok(&a->stack, n_modules);
}

static bool finding_ok(const struct dh_log_finding *f)
{
    for (uint32_t i = 0; i < f->n_accesses; i++)
        if (!access_ok(&f->access[i], f->n_modules))
            return false;
    for (uint32_t i = 0; i < f->n_threads; i++)
        if (!stack_ok(&f->threads[i].created, f->n_modules))
            return false;
    return f->kind < DH_FINDING_KIND_COUNT && f->level <= DH_LEVEL_OBSERVED && f->region < DH_LOG_REGION_COUNT &&
           f->n_held <= DH_LOG_HELD && module_ok(f->where.module, f->n_modules) &&
           stack_ok(&f->allocated, f->n_modules);
}

bool dh_log_read_finding(const struct dh_log_record *r, struct dh_log_finding *f, struct dh_log_memory *m)
{
    struct cursor c = {r->bytes, r->bytes + r->n, r->type != DH_LOG_FINDING, m, r->version};
    *f = (struct dh_log_finding){.kind = take32(&c)};
    f->level = c.version > 1 ? take32(&c) : DH_LEVEL_OBSERVED;
    f->time = take64(&c);
    f->detector = take_text(&c);
    f->text = take_text(&c);
    f->key = c.version > 1 ? take_text(&c) : "";
    take_memory(&c, f);
    f->n_accesses = take32(&c);
    if (c.bad || f->n_accesses > DH_LOG_ACCESSES)
        return false;
    for (uint32_t i = 0; i < f->n_accesses; i++)
        take_access(&c, &f->access[i]);
    struct dh_log_thread *threads = take_array(&c, &f->n_threads, LEAST_THREAD, sizeof *threads);
    for (uint32_t i = 0; i < f->n_threads; i++)
        take_thread(&c, &threads[i]);
    struct dh_log_module *modules = take_array(&c, &f->n_modules, LEAST_MODULE, sizeof *modules);
    for (uint32_t i = 0; i < f->n_modules; i++) {
        take_into(&c, modules[i].id, sizeof modules[i].id);
        modules[i].path = take_text(&c);
    }
    f->threads = threads;
    f->modules = modules;
    return !c.bad && c.at == c.end && finding_ok(f);
}

bool dh_log_read_process(const struct dh_log_record *r, struct dh_log_process *p)
{
    struct cursor c = {r->bytes, r->bytes + r->n, r->type != DH_LOG_PROCESS, NULL, r->version};
    *p = (struct dh_log_process){.pid = take32(&c)};
    p->time = take64(&c);
    take_into(&c, p->id, sizeof p->id);
    p->path = take_text(&c);
    p->original = take_text(&c);
    p->variant = take_text(&c);
    return !c.bad && c.at == c.end;
}

const char *dh_log_read_note(const struct dh_log_record *r)
{
    struct cursor c = {r->bytes, r->bytes + r->n, r->type != DH_LOG_NOTE, NULL, r->version};
    const char *text = take_text(&c);
    return c.bad || c.at != c.end ? NULL : text;
}

bool dh_log_has_reported(const struct dh_log_record *r, uint64_t id)
{
    if (!r->n)
        return false;
    struct cursor c = {r->bytes, r->bytes + r->n, r->type != DH_LOG_REPORTED, NULL, r->version};
    while (!c.bad && c.at < c.end)
        if (take64(&c) == id && !c.bad)
            return true;
    return false;
}

static uint32_t at32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static bool refuse(const char **why, const char *text)
{
    *why = text;
    return false;
}

bool dh_log_open(struct dh_log_reader *r, const void *bytes, size_t n, const char **why)
{
    *r = (struct dh_log_reader){.bytes = bytes, .n = n, .at = DH_LOG_HEADER_SIZE};
    if (n < DH_LOG_HEADER_SIZE)
        return refuse(why, "findings log is cut short");
    if (memcmp(bytes, DH_LOG_MAGIC, 8) != 0)
        return refuse(why, "not a findings log (wrong magic)");
    if (at32(r->bytes + 12) != DH_LOG_ENDIANNESS)
        return refuse(why, "findings log was written on a machine of other byte order");
    r->version = at32(r->bytes + 8);
    if (r->version < DH_LOG_VERSION_OLDEST || r->version > DH_LOG_VERSION)
        return refuse(why, "findings log has an unknown version");
    return true;
}

static bool record_at(const struct dh_log_reader *r, size_t at, struct dh_log_record *out)
{
    const uint8_t *b = r->bytes + at;
    if (r->n - at < DH_LOG_RECORD_SIZE || at32(b) != DH_LOG_RECORD_MARK)
        return false;
    uint32_t size = at32(b + 12);
    if (size > DH_LOG_RECORD_MOST || size > r->n - at - DH_LOG_RECORD_SIZE ||
        dh_log_crc(b + 8, size + 8) != at32(b + 4))
        return false;
    *out = (struct dh_log_record){at32(b + 8), r->version, b + DH_LOG_RECORD_SIZE, size};
    return true;
}

/* Where a mark is next, for going on behind damage. */
static size_t next_mark(const struct dh_log_reader *r, size_t at)
{
    uint32_t mark = DH_LOG_RECORD_MARK;
    const uint8_t *found = at < r->n ? memmem(r->bytes + at, r->n - at, &mark, sizeof mark) : NULL;
    return found ? (size_t)(found - r->bytes) : r->n;
}

bool dh_log_next(struct dh_log_reader *r, struct dh_log_record *out)
{
    size_t start = r->at;
    while (r->at < r->n && !record_at(r, r->at, out))
        r->at = next_mark(r, r->at + 1);
    if (r->at > start && !r->damaged++)
        r->first_damaged = start;
    if (r->at >= r->n)
        return false;
    r->at += DH_LOG_RECORD_SIZE + out->n;
    return true;
}
