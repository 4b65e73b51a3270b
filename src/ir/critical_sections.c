/* A section begins at a lock call, or at a call of a function that returns with a lock held (std::lock_guard's
 * constructor, my_lock(obj)), and ends at an unlock of the same lock, or at a call of a function that releases one.
 * Callees count with their transitive callees, except through function pointers. The result over-approximates (an
 * unlock that is not matched, callees that access on other paths only): it may suppress reports, never cause one. It is
 * cut at MOST_NAMES and MOST_CALLEES, nearest first. */
#include "ir/critical_sections.h"

#include "base/alloc.h"
#include "ir/known_functions.h"
#include "ir/lock_analysis.h"
#include "ir/sites.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 512, MOST_CALLEES = 1024, MOST_ROUNDS = 8, DEPTH = 6 };

/* ---- accesses and calls of functions ---- */

static unsigned op_of(const struct dh_lock_analysis *a, LLVMValueRef i, uint32_t *site)
{
    *site = dh_ir_site_of(i);
    return *site < a->sites.n_sites ? a->sites.sites[*site].op : DH_OP_NONE;
}

static void add_name(struct dh_lock_function *f, uint32_t name, bool write)
{
    for (size_t i = f->names.n; i-- > 0 && i + 16 > f->names.n;)
        if (f->names.at[i].name == name && f->names.at[i].write == write)
            return;
    if (name)
        dh_vec_push(&f->names, (struct dh_lock_name){name, write});
}

/* Names of what an instruction accesses; false when it is no access. */
static bool add_access(const struct dh_lock_analysis *a, struct dh_lock_function *f, unsigned op, uint32_t site)
{
    const struct dh_site *s = site < a->sites.n_sites ? &a->sites.sites[site] : NULL;
    switch (op) {
    case DH_OP_READ:
        add_name(f, s->variable, false);
        return true;
    case DH_OP_WRITE:
    case DH_OP_SET:
        add_name(f, s->variable, true);
        return true;
    case DH_OP_COPY:
    case DH_OP_MOVE:
        add_name(f, s->variable, true);
        add_name(f, s->source, false);
        return true;
    default:
        return false;
    }
}

struct dh_lock_function *dh_lock_callee(const struct dh_lock_analysis *a, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return callee && LLVMIsAFunction(callee) ? dh_ptr_map_find(&a->by_value, callee) : NULL;
}

static void scan_instruction(struct dh_lock_analysis *a, struct dh_lock_function *f, LLVMValueRef i)
{
    uint32_t site;
    unsigned op = op_of(a, i, &site);
    if (add_access(a, f, op, site) || !dh_lock_is_call(i))
        return;
    struct dh_lock_function *callee = dh_lock_callee(a, i);
    if (callee)
        dh_vec_push(&f->callees, callee);
    if (callee || dh_op_info(op)->group == DH_GROUP_SYNC)
        dh_vec_push(&f->locking, i);
}

static void scan_function(struct dh_lock_analysis *a, struct dh_lock_function *f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->value); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            scan_instruction(a, f, i);
}

static void add_functions(struct dh_lock_analysis *a, LLVMModuleRef m)
{
    for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v)) {
        if (LLVMIsDeclaration(v))
            continue;
        struct dh_lock_function *f = dh_xcalloc(1, sizeof *f);
        f->value = v;
        *dh_ptr_map_at(&a->by_value, v) = f;
        dh_vec_push(&a->all, f);
    }
    for (size_t i = 0; i < a->all.n; i++)
        scan_function(a, a->all.at[i]);
}

/* ---- which lock ---- */

enum dh_lock_action dh_lock_effect(const struct dh_lock_analysis *a, LLVMValueRef call, bool *direct)
{
    uint32_t site;
    unsigned op = op_of(a, call, &site);
    *direct = true;
    if (op == DH_OP_LOCK || op == DH_OP_TRYLOCK || op == DH_OP_RDLOCK || op == DH_OP_TRYRDLOCK)
        return DH_LOCK_ACQUIRES;
    if (op == DH_OP_UNLOCK)
        return DH_LOCK_RELEASES;
    *direct = false;
    const struct dh_lock_function *f = dh_lock_callee(a, call);
    if (!f || f->acquires == f->releases)
        return DH_LOCK_NO_EFFECT;
    return f->acquires ? DH_LOCK_ACQUIRES : DH_LOCK_RELEASES;
}

static LLVMValueRef lock_argument(LLVMValueRef call)
{
    size_t n;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const struct dh_known_function *k =
        callee && LLVMIsAFunction(callee) ? dh_known_function(LLVMGetValueName2(callee, &n)) : NULL;
    unsigned at = k && k->address >= 0 ? (unsigned)k->address : 0;
    return at < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, at) : NULL;
}

static bool same_operands(LLVMValueRef x, LLVMValueRef y, int depth);

/* Computed alike from the same values; loads of one pointer count as the same value. */
static bool same_value(LLVMValueRef x, LLVMValueRef y, int depth)
{
    if (x == y)
        return true;
    if (!x || !y || depth <= 0 || !LLVMIsAInstruction(x) || !LLVMIsAInstruction(y) ||
        LLVMGetInstructionOpcode(x) != LLVMGetInstructionOpcode(y))
        return false;
    switch (LLVMGetInstructionOpcode(x)) {
    case LLVMGetElementPtr:
        return LLVMGetGEPSourceElementType(x) == LLVMGetGEPSourceElementType(y) && same_operands(x, y, depth);
    case LLVMLoad:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMCall:
        return same_operands(x, y, depth);
    default:
        return false;
    }
}

static bool same_operands(LLVMValueRef x, LLVMValueRef y, int depth)
{
    int n = LLVMGetNumOperands(x);
    bool same = n == LLVMGetNumOperands(y);
    for (int i = 0; same && i < n; i++)
        same = same_value(LLVMGetOperand(x, (unsigned)i), LLVMGetOperand(y, (unsigned)i), depth - 1);
    return same;
}

bool dh_lock_same_value(LLVMValueRef x, LLVMValueRef y)
{
    return same_value(x, y, DEPTH);
}

static LLVMValueRef root_of(LLVMValueRef p)
{
    while (LLVMIsAGetElementPtrInst(p) || (LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr))
        p = LLVMGetOperand(p, 0);
    return p;
}

/* Calls of lock wrappers match when they share an argument, or one has no pointer argument. */
static bool share_argument(LLVMValueRef begin, LLVMValueRef end)
{
    bool any_begin = false, any_end = false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(begin); i++) {
        LLVMValueRef x = LLVMGetOperand(begin, i);
        if (!dh_lock_is_pointer(x))
            continue;
        any_begin = true;
        for (unsigned j = 0; j < LLVMGetNumArgOperands(end); j++) {
            LLVMValueRef y = LLVMGetOperand(end, j);
            any_end = any_end || dh_lock_is_pointer(y);
            if (dh_lock_is_pointer(y) && same_value(root_of(x), root_of(y), DEPTH))
                return true;
        }
    }
    return !any_begin || !any_end;
}

static bool is_end_of(const struct dh_lock_analysis *a, LLVMValueRef begin, LLVMValueRef end)
{
    bool direct, direct_end;
    if (dh_lock_effect(a, end, &direct_end) != DH_LOCK_RELEASES)
        return false;
    dh_lock_effect(a, begin, &direct);
    if (direct && direct_end)
        return same_value(lock_argument(begin), lock_argument(end), DEPTH);
    return share_argument(begin, end);
}

/* ---- from a beginning to its ends ---- */

static void push_block(struct dh_section_walk *w, LLVMBasicBlockRef b)
{
    void **seen = dh_ptr_map_at(&w->seen, b);
    if (*seen)
        return;
    *seen = w;
    dh_vec_push(&w->ahead, b);
}

/* False when the path ends at the instruction. */
static bool visit_instruction(struct dh_section_walk *w, LLVMValueRef i)
{
    uint32_t site;
    LLVMOpcode code = LLVMGetInstructionOpcode(i);
    if (i == w->begin)
        return false;
    if (code == LLVMRet || code == LLVMResume) {
        w->returned = w->returned || code == LLVMRet;
        return false;
    }
    if (dh_lock_is_call(i)) {
        if (is_end_of(w->a, w->begin, i)) {
            w->ended = true;
            return false;
        }
        struct dh_lock_function *callee = dh_lock_callee(w->a, i);
        if (callee)
            dh_vec_push(&w->inside.callees, callee);
    }
    unsigned op = op_of(w->a, i, &site);
    add_access(w->a, &w->inside, op, site);
    if (w->visit)
        w->visit(w->arg, i);
    return true;
}

static void walk_from(struct dh_section_walk *w, LLVMValueRef i)
{
    LLVMValueRef last = NULL;
    for (; i; i = LLVMGetNextInstruction(i)) {
        if (!visit_instruction(w, i))
            return;
        last = i;
    }
    for (unsigned s = 0; last && s < LLVMGetNumSuccessors(last); s++)
        push_block(w, LLVMGetSuccessor(last, s));
}

void dh_section_walk(struct dh_section_walk *w)
{
    if (LLVMIsAInvokeInst(w->begin))
        push_block(w, LLVMGetNormalDest(w->begin));
    else
        walk_from(w, LLVMGetNextInstruction(w->begin));
    while (w->ahead.n) {
        LLVMBasicBlockRef b = w->ahead.at[--w->ahead.n];
        walk_from(w, LLVMGetFirstInstruction(b));
    }
}

void dh_section_walk_release(struct dh_section_walk *w)
{
    dh_ptr_map_release(&w->seen);
    dh_vec_release(&w->ahead);
    dh_vec_release(&w->inside.names);
    dh_vec_release(&w->inside.callees);
}

/* ---- functions that return with a lock held, or release one they did not acquire ---- */

static bool returns_locked(const struct dh_lock_analysis *a, LLVMValueRef begin)
{
    struct dh_section_walk w = {.a = a, .begin = begin};
    dh_section_walk(&w);
    bool open = w.returned && !w.ended;
    dh_section_walk_release(&w);
    return open;
}

static bool has_matching_lock(const struct dh_lock_analysis *a, const struct dh_lock_function *f, LLVMValueRef end)
{
    bool direct;
    for (size_t i = 0; i < f->locking.n; i++)
        if (dh_lock_effect(a, f->locking.at[i], &direct) == DH_LOCK_ACQUIRES && is_end_of(a, f->locking.at[i], end))
            return true;
    return false;
}

static bool update_effects(const struct dh_lock_analysis *a, struct dh_lock_function *f)
{
    bool acquires = f->acquires, releases = f->releases, direct;
    for (size_t i = 0; i < f->locking.n; i++) {
        LLVMValueRef call = f->locking.at[i];
        enum dh_lock_action e = dh_lock_effect(a, call, &direct);
        if (e == DH_LOCK_ACQUIRES && !acquires)
            acquires = returns_locked(a, call);
        if (e == DH_LOCK_RELEASES && !releases)
            releases = !has_matching_lock(a, f, call);
    }
    bool changed = acquires != f->acquires || releases != f->releases;
    f->acquires = acquires;
    f->releases = releases;
    return changed;
}

static void find_wrappers(struct dh_lock_analysis *a)
{
    bool changed = true;
    for (int round = 0; changed && round < MOST_ROUNDS; round++) {
        changed = false;
        for (size_t i = 0; i < a->all.n; i++)
            changed = update_effects(a, a->all.at[i]) || changed;
    }
}

/* ---- rows ---- */

struct name_set {
    struct dh_ptr_map seen;
    DH_VEC(struct dh_lock_name) all;
};

static void add_to_set(struct name_set *s, const struct dh_lock_function *f)
{
    for (size_t i = 0; i < f->names.n && s->all.n < MOST_NAMES; i++) {
        const struct dh_lock_name *n = &f->names.at[i];
        void **seen = dh_ptr_map_at(&s->seen, (const void *)((uintptr_t)n->name * 2 + n->write));
        if (!*seen)
            dh_vec_push(&s->all, *n);
        *seen = s;
    }
}

/* Names accessed in a section and in its transitive callees, nearest first (breadth first). */
static void collect_reachable_names(struct dh_lock_analysis *a, const struct dh_lock_function *inside,
                                    struct name_set *out)
{
    DH_VEC(struct dh_lock_function *) near = {0};
    unsigned walk = ++a->walks;
    add_to_set(out, inside);
    for (size_t k = 0; k < inside->callees.n; k++)
        dh_vec_push(&near, inside->callees.at[k]);
    for (size_t i = 0; i < near.n && i < MOST_CALLEES && out->all.n < MOST_NAMES; i++) {
        struct dh_lock_function *f = near.at[i];
        if (f->seen == walk)
            continue;
        f->seen = walk;
        add_to_set(out, f);
        for (size_t k = 0; k < f->callees.n; k++)
            if (f->callees.at[k]->seen != walk)
                dh_vec_push(&near, f->callees.at[k]);
    }
    dh_vec_release(&near);
}

static void add_names(struct dh_lock_analysis *a, const struct name_set *s, bool write, uint32_t *count)
{
    for (size_t i = 0; i < s->all.n; i++)
        if (s->all.at[i].write == write) {
            dh_vec_push(&a->names, s->all.at[i].name);
            ++*count;
        }
}

static void set_call_place(struct dh_lock_analysis *a, LLVMValueRef call, struct dh_scope_row *row)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call);
    if (!location)
        return;
    row->function = dh_site_builder_string(a->b, dh_di_scope(a->di, LLVMDILocationGetScope(location))->function);
    row->line = LLVMDILocationGetLine(location);
    row->column = LLVMDILocationGetColumn(location);
}

static void add_row(struct dh_lock_analysis *a, LLVMValueRef begin, bool direct)
{
    struct dh_section_walk w = {.a = a, .begin = begin};
    struct name_set names = {0};
    dh_section_walk(&w);
    /* A lock held on return belongs to a section of the callers. */
    if (w.ended || !w.returned) {
        struct dh_scope_row row = {.site = direct ? dh_ir_site_of(begin) : DH_NO_SITE, .first = (uint32_t)a->names.n};
        if (!direct)
            set_call_place(a, begin, &row);
        collect_reachable_names(a, &w.inside, &names);
        add_names(a, &names, false, &row.reads);
        add_names(a, &names, true, &row.writes);
        if (direct || row.line)
            dh_vec_push(&a->rows, row);
    }
    dh_ptr_map_release(&names.seen);
    dh_vec_release(&names.all);
    dh_section_walk_release(&w);
}

static int by_site(const void *x, const void *y)
{
    const struct dh_scope_row *r = x, *s = y;
    if (r->site != s->site)
        return r->site < s->site ? -1 : 1;
    return r->first < s->first ? -1 : r->first > s->first;
}

static void *write_table(const struct dh_lock_analysis *a, size_t *n)
{
    struct dh_scope_header h = {DH_SCOPES_MAGIC, DH_SCOPES_VERSION, (uint32_t)a->rows.n, (uint32_t)a->names.n,
                                (uint32_t)a->flows.n};
    size_t rows = a->rows.n * sizeof *a->rows.at, names = a->names.n * sizeof *a->names.at;
    size_t flows = a->flows.n * sizeof *a->flows.at;
    *n = sizeof h + rows + names + flows;
    char *out = dh_xmalloc(*n);
    memcpy(out, &h, sizeof h);
    if (rows)
        memcpy(out + sizeof h, a->rows.at, rows);
    if (names)
        memcpy(out + sizeof h + rows, a->names.at, names);
    if (flows)
        memcpy(out + sizeof h + rows + names, a->flows.at, flows);
    return out;
}

static void release(struct dh_lock_analysis *a)
{
    for (size_t i = 0; i < a->all.n; i++) {
        dh_vec_release(&a->all.at[i]->names);
        dh_vec_release(&a->all.at[i]->locking);
        dh_vec_release(&a->all.at[i]->callees);
        dh_lock_flow_free(a->all.at[i]->flow);
        free(a->all.at[i]);
    }
    dh_vec_release(&a->all);
    dh_vec_release(&a->rows);
    dh_vec_release(&a->names);
    dh_vec_release(&a->flows);
    dh_ptr_map_release(&a->by_value);
    dh_di_free(a->di);
}

void *dh_ir_critical_sections(LLVMModuleRef m, struct dh_site_builder *b, size_t *n)
{
    struct dh_lock_analysis a = {.b = b, .sites = dh_site_builder_view(b), .di = dh_di_new(m)};
    add_functions(&a, m);
    find_wrappers(&a);
    for (size_t i = 0; i < a.all.n; i++) {
        const struct dh_lock_function *f = a.all.at[i];
        for (size_t k = 0; k < f->locking.n; k++) {
            bool direct;
            if (dh_lock_effect(&a, f->locking.at[k], &direct) == DH_LOCK_ACQUIRES)
                add_row(&a, f->locking.at[k], direct);
        }
    }
    if (a.rows.n)
        qsort(a.rows.at, a.rows.n, sizeof *a.rows.at, by_site);
    dh_lock_find_dataflow(&a);
    dh_lock_find_rmw_sequences(&a);
    dh_lock_find_waits(&a);
    dh_lock_sort_flows(&a);
    void *out = write_table(&a, n);
    release(&a);
    return out;
}
