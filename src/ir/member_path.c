#include "ir/member_path.h"

#include "base/str.h"
#include "ir/bitfield_bits.h"

#include <string.h>

enum { MAX_DEPTH = 48 };

static bool is_bitfield(const struct dh_type *m)
{
    return m->flags & LLVMDIFlagBitField;
}

/* The stored offset of a virtual base is one into the vtable. */
static bool is_virtual_base(const struct dh_type *m)
{
    return m->tag == DH_TAG_INHERITANCE && (m->flags & LLVMDIFlagVirtual);
}

static uint64_t member_bits(struct dh_di *di, struct dh_type *m)
{
    return m->size ? m->size : dh_type_bits(di, dh_type_base(di, m));
}

static bool holds(struct dh_di *di, struct dh_type *m, uint64_t from, uint64_t bits)
{
    uint64_t size = member_bits(di, m);
    if (is_virtual_base(m) || from < m->offset)
        return false;
    if (!size) { /* flexible array member; empty bases have a byte */
        struct dh_type *t = dh_type_strip(di, m);
        return t && t->tag == DH_TAG_ARRAY;
    }
    return from < m->offset + size && from + bits <= m->offset + size;
}

/* std::atomic and its bases are named as a whole, whatever members the library has. */
static bool is_std_atomic(struct dh_di *di, struct dh_type *t)
{
    static const char *const names[] = {"std::atomic<", "std::__atomic_base<", "std::atomic_flag",
                                        "std::__atomic_flag_base", "std::__atomic_float<"};
    if (!dh_type_is_record(t) || !strstr(t->name, "atomic"))
        return false;
    const char *name = dh_type_spell(di, t, true);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dh_starts_with(name, names[i]))
            return true;
    return false;
}

bool dh_member_path_has_record(struct dh_di *di, struct dh_type *t, uint64_t offset, const char *ir_name, uint64_t bits)
{
    for (int depth = 0; t && depth < MAX_DEPTH; depth++) {
        if (!offset && dh_type_has_ir_name(di, t, ir_name))
            return true;
        struct dh_type *s = dh_type_strip(di, t);
        if (!s)
            return false;
        if (bits && !offset && dh_type_is_record(s) && s->size == bits)
            return true;
        if (s->tag == DH_TAG_ARRAY) {
            unsigned dimensions;
            t = dh_type_element(di, s, &dimensions);
            uint64_t size = dh_type_bits(di, t);
            offset = size ? offset % size : 0;
            continue;
        }
        if (!dh_type_is_record(s))
            return false;
        uint32_t n;
        struct dh_type *const *members = dh_type_elements(di, s, &n);
        struct dh_type *only = NULL;
        for (uint32_t i = 0; i < n; i++) {
            if (is_bitfield(members[i]) || !holds(di, members[i], offset, 0))
                continue;
            if (only && dh_member_path_has_record(di, dh_type_base(di, only), offset - only->offset, ir_name, bits))
                return true;
            only = members[i];
        }
        if (!only)
            return false;
        offset -= only->offset;
        t = dh_type_base(di, only);
    }
    return false;
}

/* ---- choosing among members ---- */

static enum dh_value_kind kind_of(const struct dh_type *t)
{
    if (t->tag == DH_TAG_POINTER || t->tag == DH_TAG_REFERENCE || t->tag == DH_TAG_RVALUE_REFERENCE)
        return DH_VALUE_POINTER;
    if (t->tag == DH_TAG_BASE && (strstr(t->name, "float") || strstr(t->name, "double") || strstr(t->name, "Float")))
        return DH_VALUE_FLOAT;
    return t->tag == DH_TAG_BASE || t->tag == DH_TAG_ENUM ? DH_VALUE_INTEGER : DH_VALUE_ANY;
}

static bool same_tbaa(const struct dh_type *t, const char *tbaa)
{
    if (!*tbaa)
        return false;
    if (kind_of(t) == DH_VALUE_POINTER)
        return strstr(tbaa, "pointer");
    const char *name = dh_starts_with(t->name, "unsigned ") ? t->name + 9 : t->name;
    return !strcmp(name, tbaa);
}

static int scalar_fitness(struct dh_di *di, struct dh_type *t, const struct dh_named_access *want)
{
    int score = 1;
    if (want->bits && dh_type_bits(di, t) == want->bits)
        score += 4;
    if (want->kind != DH_VALUE_ANY && kind_of(t) == want->kind)
        score += 4;
    if (same_tbaa(t, want->tbaa))
        score += 8;
    return score;
}

/* How well a member that holds the access fits it, by what the access would meet inside; only unions have more
 * than one. What the source says on that line counts more than sizes. */
static int fitness(struct dh_di *di, struct dh_arena *arena, struct dh_type *m, uint64_t offset,
                   const struct dh_named_access *want)
{
    struct dh_member_path path;
    struct dh_type *t = dh_type_strip(di, m);
    if (!t)
        return 0;
    dh_member_path_find(di, arena, dh_type_base(di, m), offset - m->offset, want, &path);
    struct dh_type *leaf = dh_type_strip(di, path.type);
    int score = leaf ? scalar_fitness(di, leaf, want) : 0;
    if (dh_type_is_record(t)) {
        score += want->steps ? 2 : 0;
        if (want->record_bits && t->size == want->record_bits)
            score += 3;
        if (*want->ir_record &&
            dh_member_path_has_record(di, dh_type_base(di, m), offset - m->offset, want->ir_record, 0))
            score += 16;
    }
    const char *whole = dh_arena_join(arena, m->name, path.text, NULL);
    return score + (want->sources && dh_source_texts_mention(want->sources, want->location, whole) ? 20 : 0);
}

static struct dh_type *choose_member(struct dh_di *di, struct dh_arena *arena, struct dh_type *record, uint64_t offset,
                                     const struct dh_named_access *want)
{
    uint32_t n;
    struct dh_type *const *members = dh_type_elements(di, record, &n);
    struct dh_type *best = NULL;
    int best_score = -100;
    for (uint32_t i = 0; i < n; i++) {
        if (is_bitfield(members[i]) || !holds(di, members[i], offset, want->whole ? 0 : want->bits))
            continue;
        /* An empty base shares its place with the first member. */
        int score = members[i]->tag == DH_TAG_INHERITANCE ? 0 : 2;
        if (record->tag == DH_TAG_UNION || best)
            score += fitness(di, arena, members[i], offset, want);
        else
            score += 1;
        if (members[i]->tag == DH_TAG_INHERITANCE) {
            uint32_t inner;
            struct dh_type *base = dh_type_strip(di, members[i]);
            if (base && dh_type_is_record(base) && (dh_type_elements(di, base, &inner), !inner))
                score = -50;
        }
        if (score > best_score) {
            best = members[i];
            best_score = score;
        }
    }
    return best_score > -50 ? best : NULL;
}

/* Names the bit-fields whose bits the access demands: one, or "a:b" when that is unknown. */
static bool find_bitfields(struct dh_di *di, struct dh_arena *arena, struct dh_type *record, uint64_t offset,
                           const struct dh_named_access *want, struct dh_member_path *path)
{
    uint64_t from = 0, used = want->bits;
    if (want->instruction)
        dh_bitfield_bits_used(want->instruction, &from, &used);
    from += offset;
    uint64_t to = from + used;
    const char *names = "";
    uint32_t n, found = 0;
    struct dh_type *const *members = dh_type_elements(di, record, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct dh_type *m = members[i];
        if (!is_bitfield(m) || !*m->name || m->offset >= to || m->offset + m->size <= from)
            continue;
        names = dh_arena_join(arena, names, found ? ":" : "", m->name, NULL);
        path->type = dh_type_base(di, m);
        found++;
    }
    if (!found)
        return false;
    path->text = dh_arena_join(arena, path->text, ".", names, NULL);
    path->bitfield = true;
    return true;
}

/* ---- the way down ---- */

struct descent {
    struct dh_di *di;
    struct dh_arena *arena;
    const struct dh_named_access *want;
    struct dh_member_path *path;
    struct dh_type *t; /* with typedefs */
    uint64_t offset;
    unsigned steps;
};

static bool is_synchronisation(const struct dh_type *t)
{
    static const char *const begins[] = {"pthread_", "mtx_t", "cnd_t", "sem_t", "once_flag", "std::mutex", "mutex"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(t->name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Whether a record begins, at any depth, with an object to synchronise by. */
static bool begins_with_synchronisation(struct dh_di *di, struct dh_type *t)
{
    for (int depth = 0; t && depth < MAX_DEPTH && !is_synchronisation(t); depth++) {
        struct dh_type *s = dh_type_strip(di, t), *first = NULL;
        uint32_t n = 0;
        struct dh_type *const *members = s && dh_type_is_record(s) ? dh_type_elements(di, s, &n) : NULL;
        for (uint32_t i = 0; !first && i < n; i++)
            if (holds(di, members[i], 0, 0))
                first = members[i];
        t = first ? dh_type_base(di, first) : NULL;
        if (t && is_synchronisation(t))
            return true;
    }
    return false;
}

static bool stops_at(const struct descent *d, uint64_t size)
{
    if (d->steps < d->want->steps)
        return false;
    if (d->want->synchronises && !d->offset && begins_with_synchronisation(d->di, d->t))
        return false;
    if (!d->want->whole)
        return size && d->want->bits > size;
    return !d->offset && (!d->want->bits || d->want->bits >= size);
}

/* One array level; false = the access is the array itself. */
static bool down_array(struct descent *d, struct dh_type *array)
{
    unsigned dimensions;
    struct dh_type *element = dh_type_element(d->di, array, &dimensions);
    uint64_t size = dh_type_bits(d->di, element);
    if (array->flags & LLVMDIFlagVector)
        return false;
    bool of_locks = d->want->synchronises && element &&
                    (is_synchronisation(element) || begins_with_synchronisation(d->di, element));
    if (d->want->whole && d->steps >= d->want->steps && !of_locks) {
        bool slice = !d->want->bits || d->want->bits > size;
        if (slice || !size)
            return false;
    }
    for (unsigned i = 0; i < dimensions; i++)
        d->path->text = dh_arena_join(d->arena, d->path->text, "[]", NULL);
    d->path->element = true;
    d->steps += dimensions;
    d->t = element;
    d->offset = size ? d->offset % size : 0;
    return size != 0;
}

static bool down_record(struct descent *d, struct dh_type *record)
{
    struct dh_type *m = choose_member(d->di, d->arena, record, d->offset, d->want);
    if (!m) {
        if (!d->want->whole && find_bitfields(d->di, d->arena, record, d->offset, d->want, d->path))
            d->t = d->path->type;
        return false;
    }
    d->steps++;
    d->offset -= m->offset;
    d->t = dh_type_base(d->di, m);
    if (m->tag == DH_TAG_INHERITANCE) {
        if (!*d->path->text)
            d->path->owner = d->t;
        d->steps--; /* a base at offset 0 leaves no trace in the address */
    } else if (*m->name) {
        d->path->text = dh_arena_join(d->arena, d->path->text, ".", m->name, NULL);
        d->path->artificial = m->flags & LLVMDIFlagArtificial && dh_starts_with(m->name, "_vptr");
    }
    return true;
}

void dh_member_path_find(struct dh_di *di, struct dh_arena *arena, struct dh_type *t, uint64_t offset,
                         const struct dh_named_access *want, struct dh_member_path *path)
{
    *path = (struct dh_member_path){.text = "", .type = t};
    struct descent d = {di, arena, want, path, t, offset, 0};
    for (int depth = 0; d.t && depth < MAX_DEPTH; depth++) {
        struct dh_type *s = dh_type_strip(di, d.t);
        path->type = d.t;
        if (!s || is_std_atomic(di, s))
            break;
        if (s->tag == DH_TAG_ARRAY) {
            if (!down_array(&d, s))
                break;
        } else if (!dh_type_is_record(s) || stops_at(&d, s->size) || !down_record(&d, s)) {
            break;
        }
    }
    path->type = d.t;
}
