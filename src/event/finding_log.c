/* The writer's half: part of the runtime, so no libc. */
#include "event/finding_log.h"

const char *dh_finding_kind_name(uint32_t kind)
{
    static const char *const names[DH_FINDING_KIND_COUNT] = {
#define DH_FINDING_KIND(id, name, title, suppressed) name,
#include "event/finding_kind.def"
#undef DH_FINDING_KIND
    };
    return kind < DH_FINDING_KIND_COUNT ? names[kind] : "unknown";
}

const char *dh_finding_kind_title(uint32_t kind)
{
    static const char *const titles[DH_FINDING_KIND_COUNT] = {
#define DH_FINDING_KIND(id, name, title, suppressed) title,
#include "event/finding_kind.def"
#undef DH_FINDING_KIND
    };
    return kind < DH_FINDING_KIND_COUNT ? titles[kind] : "unknown finding";
}

const char *dh_finding_level_name(uint32_t level)
{
    static const char *const names[DH_LEVEL_COUNT] = {
#define DH_FINDING_LEVEL(id, name) name,
#include "event/finding_level.def"
#undef DH_FINDING_LEVEL
    };
    return names[level < DH_LEVEL_COUNT ? level : DH_LEVEL_OBSERVED];
}

const struct dh_log_role_words *dh_log_role_words(uint32_t role)
{
    static const struct dh_log_role_words words[DH_ROLE_COUNT] = {
#define DH_FINDING_ROLE(id, op, does, object) {op, does, object},
#include "event/finding_role.def"
#undef DH_FINDING_ROLE
    };
    return &words[role < DH_ROLE_COUNT ? role : DH_ROLE_ACCESS];
}

static void put_bytes(struct dh_log_out *o, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    if (o->full || n > o->cap - o->n) {
        o->full = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        o->at[o->n++] = from[i];
}

static void put32(struct dh_log_out *o, uint32_t value)
{
    put_bytes(o, &value, sizeof value);
}

static void put64(struct dh_log_out *o, uint64_t value)
{
    put_bytes(o, &value, sizeof value);
}

/* With its NUL, so that a reader may point into the bytes. */
static void put_text(struct dh_log_out *o, const char *text)
{
    uint32_t n = 0;
    while (text && text[n])
        n++;
    put32(o, n);
    put_bytes(o, text ? text : "", n);
    put_bytes(o, "", 1);
}

static void put_address(struct dh_log_out *o, const struct dh_log_address *a)
{
    put32(o, a->module);
    put64(o, a->offset);
}

static void put_stack(struct dh_log_out *o, const struct dh_log_stack *s)
{
    put32(o, s->n_frames);
    put32(o, s->n_cut);
    for (uint32_t i = 0; i < s->n_frames; i++)
        put_address(o, &s->frames[i]);
}

static void put_lock(struct dh_log_out *o, const struct dh_log_lock *l)
{
    put64(o, l->address);
    put_address(o, &l->where);
    put32(o, l->shared);
    put32(o, l->place);
    put32(o, l->module);
    put_stack(o, &l->taken);
}

static void put_access(struct dh_log_out *o, const struct dh_log_access *a)
{
    put32(o, a->thread);
    put32(o, a->flags);
    put32(o, a->role);
    put32(o, a->place);
    put32(o, a->module);
    put32(o, a->size);
    put64(o, a->address);
    put64(o, a->value);
    put_address(o, &a->where);
    put_text(o, a->note);
    put_stack(o, &a->stack);
    put32(o, a->n_locks);
    for (uint32_t i = 0; i < a->n_locks; i++)
        put_lock(o, &a->locks[i]);
}

static void put_thread(struct dh_log_out *o, const struct dh_log_thread *t)
{
    put32(o, t->index);
    put32(o, t->parent);
    put32(o, t->flags);
    put_text(o, t->name);
    put_stack(o, &t->created);
}

static const uint32_t crc_steps[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t dh_log_crc(const uint8_t *bytes, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ crc_steps[crc & 15];
        crc = crc >> 4 ^ crc_steps[crc & 15];
    }
    return ~crc;
}

void dh_log_put_header(struct dh_log_out *o)
{
    put_bytes(o, DH_LOG_MAGIC, 8);
    put32(o, DH_LOG_VERSION);
    put32(o, DH_LOG_ENDIANNESS);
}

/* Size and sum are filled in by `end_record`; the sum covers everything behind itself. */
static size_t begin_record(struct dh_log_out *o, uint32_t type)
{
    size_t start = o->n;
    put32(o, DH_LOG_RECORD_MARK);
    put32(o, 0);
    put32(o, type);
    put32(o, 0);
    return start;
}

static void set32(struct dh_log_out *o, size_t at, uint32_t value)
{
    struct dh_log_out there = {o->at + at, 0, sizeof value, false};
    put32(&there, value);
}

static void end_record(struct dh_log_out *o, size_t start)
{
    if (o->full) {
        o->n = start;
        return;
    }
    set32(o, start + 12, (uint32_t)(o->n - start - DH_LOG_RECORD_SIZE));
    set32(o, start + 4, dh_log_crc(o->at + start + 8, o->n - start - 8));
}

void dh_log_put_process(struct dh_log_out *o, const struct dh_log_process *p)
{
    size_t start = begin_record(o, DH_LOG_PROCESS);
    put32(o, p->pid);
    put64(o, p->time);
    put_bytes(o, p->id, sizeof p->id);
    put_text(o, p->path);
    put_text(o, p->original);
    put_text(o, p->variant);
    end_record(o, start);
}

void dh_log_put_note(struct dh_log_out *o, const char *text)
{
    size_t start = begin_record(o, DH_LOG_NOTE);
    put_text(o, text);
    end_record(o, start);
}

void dh_log_put_reported(struct dh_log_out *o, const uint64_t *ids, uint32_t n)
{
    size_t start = begin_record(o, DH_LOG_REPORTED);
    for (uint32_t i = 0; i < n; i++)
        put64(o, ids[i]);
    end_record(o, start);
}

static void put_memory(struct dh_log_out *o, const struct dh_log_finding *f)
{
    put64(o, f->address);
    put32(o, f->size);
    put32(o, f->n_held);
    put_bytes(o, f->held, sizeof f->held);
    put32(o, f->region);
    put32(o, f->region_thread);
    put_address(o, &f->where);
    put64(o, f->block);
    put64(o, f->n_block);
    put_stack(o, &f->allocated);
}

void dh_log_put_finding(struct dh_log_out *o, const struct dh_log_finding *f)
{
    size_t start = begin_record(o, DH_LOG_FINDING);
    put32(o, f->kind);
    put32(o, f->level);
    put64(o, f->time);
    put_text(o, f->detector);
    put_text(o, f->text);
    put_text(o, f->key);
    put_memory(o, f);
    put32(o, f->n_accesses);
    for (uint32_t i = 0; i < f->n_accesses; i++)
        put_access(o, &f->access[i]);
    put32(o, f->n_threads);
    for (uint32_t i = 0; i < f->n_threads; i++)
        put_thread(o, &f->threads[i]);
    put32(o, f->n_modules);
    for (uint32_t i = 0; i < f->n_modules; i++) {
        put_bytes(o, f->modules[i].id, sizeof f->modules[i].id);
        put_text(o, f->modules[i].path);
    }
    end_record(o, start);
}
