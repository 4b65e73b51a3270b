#include "instrument/resolve.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

static int compare_place(const struct dh_site *a, uint32_t file, uint32_t line)
{
    if (a->file != file)
        return a->file < file ? -1 : 1;
    return a->line < line ? -1 : a->line > line;
}

static int compare_rows(const void *x, const void *y, void *sites)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct dh_site *rows = sites;
    int order = compare_place(&rows[a], rows[b].file, rows[b].line);
    return order ? order : a < b ? -1 : a > b;
}

void dh_resolver_init(struct dh_resolver *r, struct dh_places *places, const struct dh_plan *plan)
{
    struct dh_site_table t = dh_site_builder_view(places->sites);
    *r = (struct dh_resolver){.places = places, .plan = plan, .n = t.n_sites, .any = plan->everywhere};
    r->by_line = malloc((t.n_sites + 1) * sizeof *r->by_line);
    if (!r->by_line)
        abort();
    for (uint32_t i = 0; i < t.n_sites; i++) {
        r->by_line[i] = i;
        r->any |= dh_plan_classes(plan, i);
    }
    if (t.n_sites)
        qsort_r(r->by_line, t.n_sites, sizeof *r->by_line, compare_rows, (void *)(uintptr_t)t.sites);
}

void dh_resolver_release(struct dh_resolver *r)
{
    free(r->by_line);
}

/* First index whose row is not before (file, line). */
static uint32_t lower_bound(const struct dh_resolver *r, const struct dh_site *rows, uint32_t file, uint32_t line)
{
    uint32_t from = 0, to = r->n;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (compare_place(&rows[r->by_line[mid]], file, line) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
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

struct dh_resolved dh_resolver_find(struct dh_resolver *r, const struct dh_memop *a)
{
    struct dh_resolved none = {DH_NO_SITE, r->any}, best = {DH_NO_SITE, 0};
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(a->at);
    uint32_t line = loc ? LLVMDILocationGetLine(loc) : 0;
    if (!line)
        return none;
    struct dh_scope_names names = dh_scopes_names(&r->places->scopes, LLVMDILocationGetScope(loc));
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    unsigned top = 0;
    for (uint32_t i = lower_bound(r, t.sites, names.file, line); i < r->n; i++) {
        const struct dh_site *row = &t.sites[r->by_line[i]];
        if (compare_place(row, names.file, line))
            break;
        unsigned s = score(row, a, names.function, LLVMDILocationGetColumn(loc));
        if (s)
            best.classes |= dh_plan_classes(r->plan, r->by_line[i]);
        if (s > top) {
            top = s;
            best.site = r->by_line[i];
        }
    }
    return best.site == DH_NO_SITE ? none : best;
}
