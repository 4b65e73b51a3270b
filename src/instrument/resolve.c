#include "instrument/resolve.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

/* Each index orders rows by file and one more column. */
typedef uint32_t column_of(const struct dh_site *row);

static uint32_t line_of(const struct dh_site *row)
{
    return row->line;
}

static uint32_t function_of(const struct dh_site *row)
{
    return row->function;
}

static int compare_row(const struct dh_site *row, column_of *column, uint32_t file, uint32_t value)
{
    if (row->file != file)
        return row->file < file ? -1 : 1;
    return column(row) < value ? -1 : column(row) > value;
}

struct ordering {
    const struct dh_site *rows;
    column_of *column;
};

static int compare_ids(const void *x, const void *y, void *ordering)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct ordering *o = ordering;
    int order = compare_row(&o->rows[a], o->column, o->rows[b].file, o->column(&o->rows[b]));
    return order ? order : a < b ? -1 : a > b;
}

static uint32_t *sorted(const struct dh_site_table *t, column_of *column)
{
    uint32_t *ids = malloc((t->n_sites + 1) * sizeof *ids);
    if (!ids)
        abort();
    for (uint32_t i = 0; i < t->n_sites; i++)
        ids[i] = i;
    if (t->n_sites)
        qsort_r(ids, t->n_sites, sizeof *ids, compare_ids, &(struct ordering){t->sites, column});
    return ids;
}

void dh_resolver_init(struct dh_resolver *r, struct dh_places *places, const struct dh_plan *plan)
{
    struct dh_site_table t = dh_site_builder_view(places->sites);
    *r = (struct dh_resolver){.places = places, .plan = plan, .n = t.n_sites, .any = plan->everywhere};
    r->by_line = sorted(&t, line_of);
    r->by_function = sorted(&t, function_of);
    for (uint32_t i = 0; i < t.n_sites; i++)
        r->any |= dh_plan_classes(plan, i);
}

void dh_resolver_release(struct dh_resolver *r)
{
    free(r->by_line);
    free(r->by_function);
}

/* The run of equal rows in an index: first, and one past the last. */
struct run {
    uint32_t from, to;
};

static struct run find_run(const uint32_t *ids, const struct dh_site_table *t, column_of *column, uint32_t file,
                           uint32_t value)
{
    uint32_t from = 0, to = t->n_sites;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (compare_row(&t->sites[ids[mid]], column, file, value) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    while (to < t->n_sites && !compare_row(&t->sites[ids[to]], column, file, value))
        to++;
    return (struct run){from, to};
}

enum { DIRECTION_READS = 1, DIRECTION_WRITES = 2 };

static unsigned direction(unsigned op)
{
    static const uint8_t directions[DH_OP_COUNT] = {
        [DH_OP_READ] = DIRECTION_READS,
        [DH_OP_WRITE] = DIRECTION_WRITES,
        [DH_OP_ATOMIC_LOAD] = DIRECTION_READS,
        [DH_OP_ATOMIC_STORE] = DIRECTION_WRITES,
        [DH_OP_ATOMIC_RMW] = DIRECTION_READS | DIRECTION_WRITES,
        [DH_OP_ATOMIC_CAS] = DIRECTION_READS | DIRECTION_WRITES,
        [DH_OP_COPY] = DIRECTION_READS | DIRECTION_WRITES,
        [DH_OP_MOVE] = DIRECTION_READS | DIRECTION_WRITES,
        [DH_OP_SET] = DIRECTION_WRITES,
    };
    return op < DH_OP_COUNT ? directions[op] : 0;
}

/* 0 = cannot be it. The weights put function before column before operation before size. */
static unsigned score(const struct dh_site *row, const struct dh_memop *a, uint32_t function, uint32_t column)
{
    bool fits = a->op == DH_OP_FENCE ? row->op == DH_OP_FENCE : (direction(row->op) & direction(a->op)) != 0;
    if (!fits || (row->function != function && row->column != column))
        return 0;
    bool pointer = a->type && LLVMGetTypeKind(a->type) == LLVMPointerTypeKind;
    return 1 + 32u * (row->function == function) + 16u * (row->column == column) + 8u * (row->op == a->op) +
           4u * (row->size == a->bytes) + 2u * (pointer == !!(row->flags & DH_SITE_POINTER));
}

static struct dh_resolved find_by_line(const struct dh_resolver *r, const struct dh_memop *a, LLVMMetadataRef loc,
                                       struct dh_scope_names names)
{
    struct dh_resolved best = {DH_NO_SITE, 0};
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    struct run run = find_run(r->by_line, &t, line_of, names.file, LLVMDILocationGetLine(loc));
    unsigned top = 0;
    for (uint32_t i = run.from; i < run.to; i++) {
        uint32_t id = r->by_line[i];
        unsigned s = score(&t.sites[id], a, names.function, LLVMDILocationGetColumn(loc));
        if (s)
            best.classes |= dh_plan_classes(r->plan, id);
        if (s > top) {
            top = s;
            best.site = id;
        }
    }
    return best;
}

/* Merged accesses keep their function but no line. If all accesses of that kind there are to one variable, it is that
 * one; a guess among several would name the wrong one. */
static struct dh_resolved find_by_type(const struct dh_resolver *r, const struct dh_memop *a,
                                       struct dh_scope_names names)
{
    struct dh_resolved none = {DH_NO_SITE, 0}, found = none;
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    struct run run = find_run(r->by_function, &t, function_of, names.file, names.function);
    bool pointer = a->type && LLVMGetTypeKind(a->type) == LLVMPointerTypeKind;
    for (uint32_t i = run.from; i < run.to; i++) {
        uint32_t id = r->by_function[i];
        const struct dh_site *row = &t.sites[id];
        if (row->op != a->op || row->size != a->bytes || pointer != !!(row->flags & DH_SITE_POINTER))
            continue;
        if (found.site != DH_NO_SITE && t.sites[found.site].variable != row->variable)
            return none;
        if (found.site == DH_NO_SITE)
            found.site = id;
        found.classes |= dh_plan_classes(r->plan, id);
    }
    return found;
}

struct dh_resolved dh_resolver_find(struct dh_resolver *r, const struct dh_memop *a)
{
    struct dh_resolved found = {DH_NO_SITE, 0};
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(a->at);
    LLVMMetadataRef scope =
        loc ? LLVMDILocationGetScope(loc) : LLVMGetSubprogram(LLVMGetBasicBlockParent(LLVMGetInstructionParent(a->at)));
    if (scope) {
        struct dh_scope_names names = dh_scopes_names(&r->places->scopes, scope);
        found = loc && LLVMDILocationGetLine(loc) ? find_by_line(r, a, loc, names) : find_by_type(r, a, names);
    }
    return found.site == DH_NO_SITE ? (struct dh_resolved){DH_NO_SITE, r->any} : found;
}
