#include "instrument/site_resolver.h"

#include "instrument/debug_locations.h"
#include "ir/site_scopes.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

void dh_site_resolver_init(struct dh_site_resolver *r, LLVMModuleRef m, struct dh_places *places,
                           const struct dh_plan *plan)
{
    struct dh_site_table t = dh_site_builder_view(places->sites);
    *r = (struct dh_site_resolver){.places = places, .plan = plan, .any = plan->everywhere};
    dh_site_index_init(&r->index, &t);
    r->namer = dh_namer_new(m, places->scopes.di);
    for (uint32_t i = 0; i < t.n_sites; i++)
        r->any |= dh_plan_classes(plan, i);
}

void dh_site_resolver_release(struct dh_site_resolver *r)
{
    dh_site_index_release(&r->index);
    dh_namer_free(r->namer);
    dh_vec_release(&r->inside);
    dh_vec_release(&r->fits);
}

/* ---- the current function ---- */

static void add_inside(struct dh_site_resolver *r, LLVMMetadataRef loc)
{
    for (; loc; loc = LLVMDILocationGetInlinedAt(loc)) {
        struct dh_debug_scope_names names = dh_debug_scopes_get(&r->places->scopes, LLVMDILocationGetScope(loc));
        size_t i = 0;
        while (i < r->inside.n && (r->inside.at[i].file != names.file || r->inside.at[i].function != names.function))
            i++;
        if (i == r->inside.n)
            dh_vec_push(&r->inside, names);
    }
}

static void enter_function(struct dh_site_resolver *r, LLVMValueRef i)
{
    LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
    if (f == r->function)
        return;
    r->function = f;
    r->inside.n = 0;
    dh_namer_enter(r->namer, f);
    LLVMMetadataRef last = NULL;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef k = LLVMGetFirstInstruction(bb); k; k = LLVMGetNextInstruction(k)) {
            LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(k);
            if (loc != last)
                add_inside(r, loc);
            last = loc;
        }
}

static uint32_t order_of(LLVMValueRef function, LLVMValueRef i)
{
    uint32_t order = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef k = LLVMGetFirstInstruction(bb); k; k = LLVMGetNextInstruction(k), order++)
            if (k == i)
                return order;
    return order;
}

/* The name of what is accessed, as far as the optimised code shows it. */
static struct dh_access_name name_of(struct dh_site_resolver *r, const struct dh_memop *a)
{
    struct dh_access_name name = {"", "", "", "", 0};
    enter_function(r, a->at);
    struct dh_address address = {a->at, a->addr, a->type, a->bytes, order_of(r->function, a->at), false, false};
    if (a->addr)
        dh_namer_find(r->namer, &address, &name);
    return name;
}

/* ---- scoring of candidate sites ---- */

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

/* An access and its debug location. */
struct question {
    const struct dh_memop *a;
    struct dh_debug_scope_names names;
    unsigned line, column; /* 0 = lost */
    bool has_scope;
    bool named, member; /* `name` is known; it is certainly a member */
    struct dh_access_name name;
};

static struct question question_about(struct dh_site_resolver *r, const struct dh_memop *a)
{
    struct question q = {.a = a};
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(a->at), scope;
    scope =
        loc ? LLVMDILocationGetScope(loc) : LLVMGetSubprogram(LLVMGetBasicBlockParent(LLVMGetInstructionParent(a->at)));
    q.line = loc ? LLVMDILocationGetLine(loc) : 0;
    q.column = loc ? LLVMDILocationGetColumn(loc) : 0;
    q.has_scope = scope != NULL;
    if (scope)
        q.names = dh_debug_scopes_get(&r->places->scopes, scope);
    return q;
}

/* A copy may be what became of stores, hardly of loads. */
static bool fits(const struct dh_memop *a, const struct dh_site *row)
{
    unsigned wanted = a->kind == DH_MEMOP_MEMORY ? DIRECTION_WRITES : direction(a->op);
    return a->op == DH_OP_FENCE ? row->op == DH_OP_FENCE : (direction(row->op) & wanted) != 0;
}

static bool same_pointerness(const struct dh_memop *a, const struct dh_site *row)
{
    bool pointer = a->type && LLVMGetTypeKind(a->type) == LLVMPointerTypeKind;
    return pointer == !!(row->flags & DH_SITE_POINTER);
}

static bool is_same_kind(const struct dh_memop *a, const struct dh_site *row)
{
    return row->op == a->op && row->size == a->bytes && same_pointerness(a, row);
}

typedef unsigned weight(const struct question *q, const struct dh_site *row);

static unsigned by_kind(const struct question *q, const struct dh_site *row)
{
    bool memory = q->a->kind == DH_MEMOP_MEMORY && dh_op_info(row->op)->group == DH_GROUP_MEMORY;
    return 8u * fits(q->a, row) + 4u * (row->op == q->a->op || memory) + 2u * (row->size == q->a->bytes) +
           same_pointerness(q->a, row);
}

static unsigned by_place(const struct question *q, const struct dh_site *row)
{
    bool function = row->file == q->names.file && row->function == q->names.function;
    bool line = q->line && row->line == q->line && row->file == q->names.file;
    return 4u * function + 2u * line + (line && row->column == q->column);
}

/* Keeps the candidates of highest score, lowest id first. */
static void keep_best(struct dh_site_resolver *r, const struct question *q, weight *weigh)
{
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    unsigned top = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->fits.n; i++) {
        unsigned score = weigh(q, &t.sites[r->fits.at[i]]);
        if (score > top) {
            top = score;
            n = 0;
        }
        if (score == top)
            r->fits.at[n++] = r->fits.at[i];
    }
    r->fits.n = n;
}

static bool is_one_variable(const struct dh_site_resolver *r)
{
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    for (size_t i = 1; i < r->fits.n; i++)
        if (t.sites[r->fits.at[i]].variable != t.sites[r->fits.at[0]].variable)
            return false;
    return true;
}

/* Keeps the rows of one variable; all of them when none is. */
static bool keep_named(struct dh_site_resolver *r, const char *variable)
{
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    size_t n = 0;
    for (size_t i = 0; i < r->fits.n; i++)
        if (strcmp(dh_site_string(&t, t.sites[r->fits.at[i]].variable), variable) == 0)
            r->fits.at[n++] = r->fits.at[i];
    if (n)
        r->fits.n = n;
    return n > 0;
}

static unsigned distance(struct dh_site_resolver *r, const struct question *q, const struct dh_site *row)
{
    struct dh_debug_scope_names names = {row->file, row->function};
    LLVMMetadataRef near = dh_debug_location_nearest_in(&r->places->scopes, q->a->at, names);
    unsigned line = near ? LLVMDILocationGetLine(near) : 0;
    return !line ? UINT32_MAX : line > row->line ? line - row->line : row->line - line;
}

/* Of several sites of one variable, the one nearest to code whose location is known. */
static uint32_t nearest(struct dh_site_resolver *r, const struct question *q)
{
    uint32_t best = r->fits.n ? r->fits.at[0] : DH_NO_SITE;
    unsigned least = UINT32_MAX;
    for (size_t i = 0; r->fits.n > 1 && i < r->fits.n; i++) {
        struct dh_site_table t = dh_site_builder_view(r->places->sites);
        unsigned d = distance(r, q, &t.sites[r->fits.at[i]]);
        if (d < least) {
            least = d;
            best = r->fits.at[i];
        }
    }
    return best;
}

static void learn_name(struct dh_site_resolver *r, struct question *q)
{
    if (q->named)
        return;
    q->named = true;
    q->name = name_of(r, q->a);
    q->member = dh_namer_is_member(r->namer, q->a->at);
}

static struct dh_resolved_site choose(struct dh_site_resolver *r, struct question *q)
{
    struct dh_resolved_site found = {DH_NO_SITE, 0};
    for (size_t i = 0; i < r->fits.n; i++)
        found.classes |= dh_plan_classes(r->plan, r->fits.at[i]);
    keep_best(r, q, by_kind);
    if (!is_one_variable(r)) {
        learn_name(r, q);
        keep_named(r, q->name.variable);
    }
    keep_best(r, q, by_place);
    found.site = nearest(r, q);
    return found;
}

/* ---- sources of candidates, most reliable first ---- */

/* Several accesses were merged into this one; each of their sites is right. */
static void gather_carried(struct dh_site_resolver *r, struct question *q)
{
    enum { MOST = 64 };
    uint32_t n_sites = dh_site_builder_view(r->places->sites).n_sites;
    r->fits.n = 0;
    dh_vec_reserve(&r->fits, MOST);
    unsigned n = dh_ir_merged_sites(q->a->at, r->fits.at, MOST);
    for (unsigned i = 0; i < n; i++)
        if (r->fits.at[i] < n_sites)
            r->fits.at[r->fits.n++] = r->fits.at[i];
}

static bool is_temporary(const struct dh_site *row)
{
    return row->flags & DH_SITE_ARTIFICIAL && row->flags & DH_SITE_LOCAL;
}

static void gather_run(struct dh_site_resolver *r, const struct question *q, struct dh_site_range run)
{
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    for (uint32_t i = 0; i < run.n; i++)
        if (fits(q->a, &t.sites[run.ids[i]]) && !is_temporary(&t.sites[run.ids[i]]))
            dh_vec_push(&r->fits, run.ids[i]);
}

static void gather_function(struct dh_site_resolver *r, const struct question *q, struct dh_debug_scope_names names)
{
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    gather_run(r, q, dh_site_index_function(&r->index, &t, names.file, names.function));
}

/* A name that could only be this variable's: a member, or a global. Pointers have many names. */
static bool is_telling(const struct dh_access_name *name)
{
    return *name->variable && (*name->field || name->flags & DH_SITE_GLOBAL);
}

typedef bool test(const struct question *q, const struct dh_site_table *t, const struct dh_site *row);

static void keep(struct dh_site_resolver *r, const struct question *q, test *wanted)
{
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    size_t n = 0;
    for (size_t i = 0; i < r->fits.n; i++)
        if (wanted(q, &t, &t.sites[r->fits.at[i]]))
            r->fits.at[n++] = r->fits.at[i];
    r->fits.n = n;
}

static bool is_likely_kind(const struct question *q, const struct dh_site_table *t, const struct dh_site *row)
{
    (void)t;
    return is_same_kind(q->a, row) && (row->field || !q->member);
}

static const char *last_member(const char *field)
{
    const char *dot = strrchr(field, '.');
    return dot ? dot + 1 : field;
}

/* The same member of the same type, reached another way: an object inside another, or a local one by a pointer. */
static bool is_same_member(const struct question *q, const struct dh_site_table *t, const struct dh_site *row)
{
    const char *field = dh_site_string(t, row->field);
    return *field && strcmp(last_member(field), last_member(q->name.field)) == 0 &&
           strcmp(dh_site_string(t, row->type), q->name.type) == 0 &&
           (is_same_kind(q->a, row) || q->a->kind == DH_MEMOP_MEMORY);
}

/* What a pointer leads to has no name of its own, and so may well be what another function has a name for. */
static bool is_anonymous(const struct question *q, const struct dh_site_table *t, const struct dh_site *row)
{
    return is_likely_kind(q, t, row) && !(row->flags & (DH_SITE_GLOBAL | DH_SITE_LOCAL)) &&
           !(row->field && is_telling(&q->name));
}

/* Without the right name, accesses of one kind to one variable will do; a guess among several would name a wrong one.
 */
static void keep_likely(struct dh_site_resolver *r, struct question *q)
{
    learn_name(r, q);
    bool telling = is_telling(&q->name);
    if (!telling)
        keep(r, q, is_likely_kind);
    if (*q->name.variable && keep_named(r, q->name.variable))
        return;
    if (telling)
        keep(r, q, is_same_member);
    if (!is_one_variable(r))
        r->fits.n = 0;
}

/* A line may be that of another function's code that was inlined there, but then the column must agree. */
static void gather_line(struct dh_site_resolver *r, struct question *q)
{
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    size_t n = 0;
    r->fits.n = 0;
    if (!q->line)
        return;
    gather_run(r, q, dh_site_index_line(&r->index, &t, q->names.file, q->line));
    for (size_t i = 0; i < r->fits.n; i++) {
        const struct dh_site *row = &t.sites[r->fits.at[i]];
        if (row->function == q->names.function || row->column == q->column)
            r->fits.at[n++] = r->fits.at[i];
    }
    r->fits.n = n;
    keep_best(r, q, by_place);
    bool exact = r->fits.n && q->column && t.sites[r->fits.at[0]].column == q->column;
    bool one = is_one_variable(r) || q->a->kind == DH_MEMOP_MEMORY; /* which may have been several of them */
    if (exact)
        keep_best(r, q, by_kind);
    /* Macros put many accesses into one column. */
    if (!exact || !(one || (is_one_variable(r) && is_same_kind(q->a, &t.sites[r->fits.at[0]]))))
        keep_likely(r, q);
}

/* Merged accesses keep their function but no line: the same variable in it, or in what was inlined into it. */
static void gather_named(struct dh_site_resolver *r, struct question *q)
{
    r->fits.n = 0;
    if (q->line)
        return;
    if (q->has_scope)
        gather_function(r, q, q->names);
    keep_likely(r, q);
    if (r->fits.n || !is_telling(&q->name))
        return;
    for (size_t i = 0; i < r->inside.n; i++)
        gather_function(r, q, r->inside.at[i]);
    if (!keep_named(r, q->name.variable))
        r->fits.n = 0;
}

static bool is_at(LLVMMetadataRef loc, const struct question *q, struct dh_debug_scopes *scopes)
{
    struct dh_debug_scope_names names = dh_debug_scopes_get(scopes, LLVMDILocationGetScope(loc));
    return LLVMDILocationGetLine(loc) == q->line && LLVMDILocationGetColumn(loc) == q->column &&
           names.file == q->names.file && names.function == q->names.function;
}

/* Functions inlined at the location of `q`; each once is enough, and mostly there is one. */
static void gather_inlined(struct dh_site_resolver *r, const struct question *q)
{
    struct dh_debug_scope_names last = {0, 0};
    struct dh_debug_scopes *scopes = &r->places->scopes;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(r->function); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(i), at = NULL;
            for (; loc && (at = LLVMDILocationGetInlinedAt(loc)) && !is_at(at, q, scopes); loc = at)
                ;
            if (!loc || !at)
                continue;
            struct dh_debug_scope_names names = dh_debug_scopes_get(scopes, LLVMDILocationGetScope(loc));
            if (names.file != last.file || names.function != last.function)
                gather_function(r, q, names);
            last = names;
        }
}

/* Argument promotion: the load of a pointer argument moved to the call. Its site is in the callee, under the callee's
 * name for it, inlined or not. */
static void gather_callee(struct dh_site_resolver *r, struct question *q)
{
    r->fits.n = 0;
    if (q->a->op != DH_OP_READ)
        return;
    for (LLVMUseRef u = LLVMGetFirstUse(q->a->at); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u), f = dh_is_call(user) ? dh_called_function(user) : NULL;
        LLVMMetadataRef scope = f && !LLVMIsDeclaration(f) ? LLVMGetSubprogram(f) : NULL;
        if (scope)
            gather_function(r, q, dh_debug_scopes_get(&r->places->scopes, scope));
    }
    learn_name(r, q);
    if (!r->fits.n && q->line)
        gather_inlined(r, q);
    if (*q->name.variable && keep_named(r, q->name.variable))
        return;
    keep(r, q, is_anonymous);
    if (!is_one_variable(r))
        r->fits.n = 0;
}

unsigned dh_site_resolver_certain_classes(struct dh_site_resolver *r, const struct dh_memop *a)
{
    enum { MOST = 64 };
    uint32_t site = dh_ir_site_of(a->at), all[MOST];
    if (site != DH_NO_SITE)
        return dh_plan_exempt(dh_plan_classes(r->plan, site), dh_ir_exemption(a->at));
    unsigned n = dh_ir_merged_sites_with_exemptions(a->at, all, MOST), classes = 0;
    for (unsigned i = 0; i < n; i++)
        classes |= dh_plan_exempt(dh_plan_classes(r->plan, dh_merged_site(all[i])), dh_merged_exemption(all[i]));
    return n && n < MOST ? classes : r->any;
}

struct dh_resolved_site dh_site_resolver_find_named(struct dh_site_resolver *r, const struct dh_memop *a)
{
    struct question q = question_about(r, a);
    q.line = q.column = 0;
    gather_named(r, &q);
    return r->fits.n ? choose(r, &q) : (struct dh_resolved_site){DH_NO_SITE, r->any};
}

struct dh_resolved_site dh_site_resolver_find(struct dh_site_resolver *r, const struct dh_memop *a)
{
    static void (*const sources[])(struct dh_site_resolver *, struct question *) = {gather_carried, gather_line,
                                                                                    gather_named, gather_callee};
    struct question q = question_about(r, a);
    bool call = a->kind == DH_MEMOP_CALL;
    for (size_t i = 0; i < (call ? 1 : sizeof sources / sizeof *sources); i++) {
        sources[i](r, &q);
        if (r->fits.n)
            return choose(r, &q);
    }
    if (!call && a->addr &&
        LLVMIsASelectInst(a->addr)) { /* one of the two; dh_place_operand_emit selects at run time */
        struct dh_memop arm = *a;
        arm.addr = LLVMGetOperand(a->addr, 1);
        return dh_site_resolver_find_named(r, &arm);
    }
    return (struct dh_resolved_site){DH_NO_SITE, call ? 0 : r->any};
}

/* ---- places ---- */

static bool belongs(struct dh_site_resolver *r, LLVMMetadataRef scope, const struct dh_site *row)
{
    struct dh_debug_scope_names names = dh_debug_scopes_get(&r->places->scopes, scope);
    return names.file == row->file && names.function == row->function;
}

/* The call that inlined code of the function of `row`, by the locations around `i`. */
static uint32_t place_by_neighbours(struct dh_site_resolver *r, LLVMValueRef i, uint32_t site,
                                    const struct dh_site *row)
{
    LLVMMetadataRef whole = LLVMGetSubprogram(LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)));
    if (!whole || row->inlined != DH_NO_CHAIN)
        return site;
    LLVMMetadataRef near = dh_debug_location_nearest_in(
        &r->places->scopes, i, (struct dh_debug_scope_names){.file = row->file, .function = row->function});
    if (near)
        return dh_places_id(r->places, site, near);
    /* No other code of the function is left here. */
    return belongs(r, whole, row) ? site : dh_places_id_from_call(r->places, site, dh_debug_location_nearest(i));
}

uint32_t dh_site_resolver_place(struct dh_site_resolver *r, LLVMValueRef i, uint32_t site)
{
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(i);
    struct dh_site_table t = dh_site_builder_view(r->places->sites);
    if (site >= t.n_sites)
        return dh_places_id_from_call(r->places, DH_NO_SITE, dh_debug_location_nearest(i));
    struct dh_site row = t.sites[site]; /* the table moves when places are added */
    if (loc && belongs(r, LLVMDILocationGetScope(loc), &row))
        return dh_places_id(r->places, site, loc);
    return place_by_neighbours(r, i, site, &row);
}
