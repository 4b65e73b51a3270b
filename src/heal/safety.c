#include "heal/safety.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "driver/derive.h"
#include "driver/libraries.h"
#include "driver/merge.h"
#include "driver/policy_plan.h"
#include "heal/lock_wrappers.h"
#include "heal/spin_loops.h"
#include "heal/uninstrumented.h"
#include "host/file.h"
#include "host/process.h"
#include "image/container.h"
#include "instrument/instrument.h"
#include "ir/sites.h"

#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = DH_HEAL_SECTIONS, LOCKS = 64, GROUPS = 64, NODES = GROUPS + LOCKS, ROUNDS = 64 };

/* Data-flow facts at a point: sections that may be open, locks that may be held. */
struct held {
    uint64_t sections[SECTIONS / 64], locks;
    uint64_t surely[SECTIONS / 64]; /* sections that are open on every path */
    uint64_t
        broken[SECTIONS / 64]; /* sections within which a lock was released that may have been held at their entry */
};

struct function {
    LLVMValueRef at;
    bool by_pointer;                /* it may be called through a pointer */
    bool is_root;                   /* it has callers that are not in the module */
    struct held entry;              /* joined over all calls */
    uint64_t acquires, releases;    /* summary: locks that it may return with, and that it unlocks */
    uint64_t enters;                /* groups that it or its callees may enter */
    uint64_t leaves[SECTIONS / 64]; /* sections that may be open when it returns, opened in it */
    bool closes;                    /* it may end sections of its callers: it waits, or has their ends */
};

struct edge {
    bool there;
    LLVMValueRef call; /* that acquires the second while the first is held */
};

struct safety {
    const struct dh_heal_plan *plan;
    struct dh_site_builder *sites;
    struct dh_places *places;
    DH_VEC(struct function) functions;
    struct dh_u64_map index; /* LLVM function -> functions */
    struct dh_u64_map blocks;
    struct dh_u64_map spins; /* reads that a loop waits for */
    struct dh_u64_map uses;  /* calls: what they do to locks */
    struct dh_lock_wrappers wrappers;
    DH_VEC(LLVMBasicBlockRef) order;
    DH_VEC(struct held) in;
    char *locks[LOCKS], *places_of[LOCKS];
    unsigned n_locks;
    struct edge edges[NODES][NODES];
    uint64_t entered_under[SECTIONS]; /* locks that may be held where the section is entered */
    struct dh_str out;                /* a risk a line: kind, group, section, text, separated by tabs */
    bool changed, is_fixpoint;        /* risks are reported once the facts are complete */
    bool mixed;                       /* objects without bitcode are part of the program */
    struct dh_names outside;          /* variables that libraries without hooks name */
};

/* ---- sets ---- */

static bool join(struct held *to, const struct held *from)
{
    struct held old = *to;
    for (int i = 0; i < SECTIONS / 64; i++) {
        to->sections[i] |= from->sections[i];
        to->surely[i] &= from->surely[i];
        to->broken[i] |= from->broken[i];
    }
    to->locks |= from->locks;
    return memcmp(&old, to, sizeof old) != 0;
}

static bool has(const uint64_t *set, uint32_t section)
{
    return set[section / 64] >> section % 64 & 1;
}

static void put(uint64_t *set, uint32_t section, bool open)
{
    uint64_t bit = (uint64_t)1 << section % 64;
    set[section / 64] = open ? set[section / 64] | bit : set[section / 64] & ~bit;
}

static const struct dh_heal_policy *policy(const struct safety *s)
{
    return &s->plan->policy;
}

/* Whether being in the group keeps others waiting. */
static bool keeps_out(const struct safety *s, uint32_t group)
{
    return policy(s)->groups[group].means != DH_HEAL_SCHEDULE;
}

static uint64_t groups_in(const struct safety *s, const uint64_t *sections)
{
    uint64_t groups = 0;
    for (uint32_t i = 0; i < policy(s)->file.n_sections; i++)
        if (has(sections, i) && keeps_out(s, policy(s)->group_of[i]))
            groups |= (uint64_t)1 << policy(s)->group_of[i];
    return groups;
}

/* ---- names ---- */

static char *where(const struct safety *s, uint32_t site)
{
    struct dh_site_table t = dh_site_builder_view(s->sites);
    if (site >= t.n_sites)
        return dh_strdup("?");
    const struct dh_site *at = &t.sites[site];
    return dh_format("%s:%u in %s", dh_basename(dh_site_string(&t, at->file)), at->line,
                     dh_site_string(&t, at->function));
}

/* Locks are distinguished by where they are and shown by what their sites call them; a lock at an unknown place is the
 * one of that name. */
static unsigned lock_number(struct safety *s, const char *at, const char *shown)
{
    for (unsigned i = 0; i < s->n_locks; i++)
        if (strcmp(s->places_of[i], at ? at : "") == 0 || ((!at || !s->places_of[i][0]) && !strcmp(s->locks[i], shown)))
            return i;
    if (s->n_locks == LOCKS) /* the last one stands for all the rest */
        return LOCKS - 1;
    s->locks[s->n_locks] = dh_strdup(shown);
    s->places_of[s->n_locks] = dh_strdup(at ? at : "");
    return s->n_locks++;
}

/* What a call does to which lock, memoised; DH_OP_NONE: nothing. */
static uint8_t lock_of(struct safety *s, LLVMValueRef call, unsigned *lock)
{
    uint64_t *known = dh_u64_map_find(&s->uses, (uintptr_t)call);
    if (!known) {
        char *name;
        uint8_t op = dh_lock_operation(&s->wrappers, call, &name);
        struct dh_site_table t = dh_site_builder_view(s->sites);
        uint32_t site = dh_ir_site_of(call);
        const char *shown = site < t.n_sites ? dh_site_string(&t, t.sites[site].variable) : name ? name : "a lock";
        uint32_t use = op == DH_OP_NONE ? DH_OP_NONE : op | lock_number(s, name, shown) << 8;
        *dh_u64_map_at(&s->uses, (uintptr_t)call) = use;
        free(name);
        known = dh_u64_map_find(&s->uses, (uintptr_t)call);
    }
    *lock = *known >> 8;
    return *known & 0xFF;
}

static const char *node_name(const struct safety *s, unsigned node)
{
    return node < GROUPS ? policy(s)->groups[node].name : s->locks[node - GROUPS];
}

static void report(struct safety *s, enum dh_heal_risk_kind kind, uint32_t group, const char *section, char *text)
{
    char *line = dh_format("%d\t%s\t%s\t%s\n", (int)kind, policy(s)->groups[group].name, section, text);
    if (!s->out.at || !strstr(s->out.at, line))
        dh_str_add(&s->out, line);
    free(line);
    free(text);
}

/* ---- sections that go on after a critical section of the program ---- */

static void note_entry(struct safety *s, struct held *h, uint32_t section)
{
    s->changed |= (h->locks & ~s->entered_under[section]) != 0;
    s->entered_under[section] |= h->locks;
    put(h->broken, section, false);
}

static void release_locks(const struct safety *s, struct held *h, uint64_t locks)
{
    h->locks &= ~locks;
    for (uint32_t i = 0; i < policy(s)->file.n_sections; i++)
        if (has(h->sections, i) && s->entered_under[i] & locks)
            put(h->broken, i, true);
}

/* The program itself lets others in between: what comes after is another step. */
static void report_spanning(struct safety *s, const struct held *h)
{
    for (uint32_t i = 0; s->is_fixpoint && i < policy(s)->file.n_sections; i++)
        if (has(h->sections, i) && has(h->broken, i))
            report(s, DH_RISK_SPANS, policy(s)->group_of[i], policy(s)->file.sections[i].name,
                   dh_strdup("the program releases a lock in between"));
}

/* ---- what an instruction does ---- */

static void add_edges(struct safety *s, const struct held *h, unsigned node, LLVMValueRef call)
{
    uint64_t groups = groups_in(s, h->sections);
    for (unsigned i = 0; i < NODES; i++) {
        bool held = i < GROUPS ? groups >> i & 1 : h->locks >> (i - GROUPS) & 1;
        if (held && i != node && !s->edges[i][node].there)
            s->edges[i][node] = (struct edge){true, call};
    }
}

/* Groups are entered here or in a callee, perhaps under locks that this function itself acquired. */
static void reach_groups(struct safety *s, struct function *f, const struct held *h, uint64_t groups)
{
    f->enters |= groups;
    uint32_t site = dh_ir_function_site(f->at);
    if (!s->is_fixpoint || !(h->locks & ~f->entry.locks) || site == DH_NO_SITE)
        return;
    struct dh_site_table t = dh_site_builder_view(s->sites);
    for (uint32_t g = 0; g < policy(s)->n_groups; g++)
        if (groups >> g & 1 & ~(groups_in(s, h->surely) >> g))
            report(s, DH_RISK_FUNCTION, g, "", dh_strdup(dh_site_string(&t, t.sites[site].function)));
}

static uint32_t number(LLVMValueRef call, unsigned operand)
{
    LLVMValueRef v = LLVMGetOperand(call, operand);
    return LLVMIsAConstantInt(v) ? (uint32_t)LLVMConstIntGetZExtValue(v) : UINT32_MAX;
}

static uint32_t hook_site(const struct safety *s, LLVMValueRef call)
{
    uint32_t place = number(call, LLVMGetNumArgOperands(call) - 1);
    struct dh_site_table t = dh_site_builder_view(s->sites);
    return place < t.n_sites ? place : dh_places_all(s->places, &(uint32_t){0})[place - t.n_sites].site;
}

/* Of a call that is no site: its debug location. */
static char *where_called(const struct safety *s, LLVMValueRef call)
{
    uint32_t site = dh_ir_site_of(call);
    unsigned n = 0;
    const char *file = LLVMGetDebugLocFilename(call, &n);
    if (site != DH_NO_SITE)
        return where(s, site);
    char *path = dh_format("%.*s", file ? (int)n : 0, file ? file : "");
    char *text = dh_format("%s:%u", dh_basename(path), LLVMGetDebugLocLine(call));
    free(path);
    return text;
}

static void wait_inside(struct safety *s, struct held *h, enum dh_heal_risk_kind kind, LLVMValueRef call,
                        const char *what)
{
    for (uint32_t i = 0; s->is_fixpoint && i < policy(s)->file.n_sections; i++) {
        if (!has(h->sections, i) || !keeps_out(s, policy(s)->group_of[i]))
            continue;
        char *place = kind == DH_RISK_WAIT ? where(s, hook_site(s, call)) : where_called(s, call);
        report(s, kind, policy(s)->group_of[i], policy(s)->file.sections[i].name,
               kind == DH_RISK_WAIT ? dh_format("a section waits for other threads at %s", place)
               : kind == DH_RISK_SPINS
                   ? dh_format("a section goes round in a loop until others change what it reads at %s", place)
                   : dh_format("a section calls %s, which may block, at %s", what, place));
        free(place);
    }
}

/* The thread that is waited for may need a lock that is held here. */
static void await_under(struct safety *s, const struct held *h, LLVMValueRef call)
{
    uint32_t section = number(call, 0), group = policy(s)->group_of[section];
    uint64_t groups = groups_in(s, h->sections);
    if (!s->is_fixpoint || (!h->locks && !groups))
        return;
    unsigned node = h->locks ? GROUPS + (unsigned)__builtin_ctzll(h->locks) : (unsigned)__builtin_ctzll(groups);
    char *place = where(s, hook_site(s, call));
    report(s, DH_RISK_WAIT, group, policy(s)->file.sections[section].name,
           dh_format("it would wait at %s with %s held", place, node_name(s, node)));
    free(place);
}

static void enter_group(struct safety *s, struct function *f, const struct held *h, uint32_t group, LLVMValueRef call)
{
    if (!keeps_out(s, group))
        return;
    if (!(groups_in(s, h->surely) >> group & 1))
        add_edges(s, h, group, call);
    reach_groups(s, f, h, (uint64_t)1 << group);
}

static void step_hook(struct safety *s, const char *name, LLVMValueRef call, struct function *f, struct held *h)
{
    if (dh_starts_with(name, "__dh_heal_open")) {
        uint32_t section = number(call, LLVMGetNumArgOperands(call) - 2);
        enter_group(s, f, h, policy(s)->group_of[section], call);
        put(h->sections, section, true);
        put(h->surely, section, true);
        note_entry(s, h, section);
    } else if (strcmp(name, "__dh_heal_close") == 0) {
        uint32_t section = number(call, 0);
        put(h->sections, section, false);
        put(h->surely, section, false);
    } else if (dh_starts_with(name, "__dh_heal_enter")) {
        enter_group(s, f, h, number(call, LLVMGetNumArgOperands(call) - 2), call);
    } else if (strcmp(name, "__dh_heal_return") == 0) {
        for (int i = 0; i < SECTIONS / 64; i++) {
            h->sections[i] &= f->entry.sections[i];
            h->surely[i] &= f->entry.surely[i];
        }
    } else if (strcmp(name, "__dh_heal_await") == 0) {
        await_under(s, h, call);
    } else if (strcmp(name, "__dh_heal_wait") == 0) {
        wait_inside(s, h, DH_RISK_WAIT, call, "");
        memset(h->sections, 0, sizeof h->sections);
        memset(h->surely, 0, sizeof h->surely);
    }
}

/* Library functions that may wait for others without a bound. */
static bool may_block(const char *name)
{
    static const char *const names[] = {
        "read",    "readv",  "recv",   "recvfrom", "recvmsg",    "accept",     "accept4",    "connect",
        "poll",    "ppoll",  "select", "pselect",  "epoll_wait", "pause",      "sigwait",    "wait",
        "waitpid", "system", "fgets",  "fread",    "getc",       "fgetc",      "getchar",    "getline",
        "scanf",   "fscanf", "flock",  "msgrcv",   "mq_receive", "sigsuspend", "sigwaitinfo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void call_known(struct safety *s, struct function *f, struct function *callee, struct held *h)
{
    reach_groups(s, f, h, callee->enters);
    s->changed |= join(&callee->entry, h);
    release_locks(s, h, callee->releases);
    h->locks |= callee->acquires;
    if (callee->closes)
        memset(h->surely, 0, sizeof h->surely);
    for (int i = 0; i < SECTIONS / 64; i++)
        h->sections[i] |= callee->leaves[i];
}

/* False: the call does nothing to locks. */
static bool step_lock(struct safety *s, LLVMValueRef call, struct held *h)
{
    unsigned lock;
    uint8_t op = lock_of(s, call, &lock);
    if (op == DH_OP_NONE)
        return false;
    if (op == DH_OP_LOCK || op == DH_OP_RDLOCK) {
        add_edges(s, h, GROUPS + lock, call);
        report_spanning(s, h);
    }
    if (op == DH_OP_UNLOCK)
        release_locks(s, h, (uint64_t)1 << lock);
    else
        h->locks |= (uint64_t)1 << lock;
    return true;
}

/* The callee may be any function of that type whose address is taken. */
static void call_through(struct safety *s, struct function *f, LLVMValueRef call, struct held *h)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    struct held all = *h;
    for (size_t i = 0; i < s->functions.n; i++) {
        struct function *callee = &s->functions.at[i];
        if (!callee->by_pointer || LLVMGlobalGetValueType(callee->at) != type)
            continue;
        struct held one = *h;
        call_known(s, f, callee, &one);
        join(&all, &one);
    }
    *h = all;
}

static void step(struct safety *s, struct function *f, LLVMValueRef i, struct held *h)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMLoad && s->is_fixpoint && dh_u64_map_find(&s->spins, (uintptr_t)i))
        wait_inside(s, h, DH_RISK_SPINS, i, "");
    if (op != LLVMCall && op != LLVMInvoke)
        return;
    LLVMValueRef called = LLVMIsAFunction(LLVMGetCalledValue(i));
    size_t n;
    bool locks = step_lock(s, i, h);
    if (!called) {
        if (!locks)
            call_through(s, f, i, h);
        return;
    }
    const char *name = LLVMGetValueName2(called, &n);
    uint64_t *known = dh_u64_map_find(&s->index, (uintptr_t)called);
    if (dh_starts_with(name, "__dh_"))
        step_hook(s, name, i, f, h);
    else if (known)
        call_known(s, f, &s->functions.at[*known], h);
    else if (may_block(name))
        wait_inside(s, h, DH_RISK_BLOCKS, i, name);
}

/* ---- functions ---- */

/* Bottom: not reached yet, so nothing may be held and every section is open on all (no) paths. */
static const struct held nowhere = {.surely = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
_Static_assert(SECTIONS / 64 == 4, "all of them are sure");

static void list_blocks(struct safety *s, LLVMValueRef f)
{
    struct held none = nowhere;
    dh_u64_map_clear(&s->blocks);
    s->order.n = s->in.n = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
        *dh_u64_map_at(&s->blocks, (uintptr_t)bb) = s->order.n;
        dh_vec_push(&s->order, bb);
        dh_vec_push(&s->in, none);
    }
}

/* The fixpoint of one function for these facts at its entry; `out` gets those at its returns. */
static void analyse(struct safety *s, struct function *f, const struct held *entry, struct held *out)
{
    bool changed = true;
    *out = nowhere;
    list_blocks(s, f->at);
    join(&s->in.at[0], entry);
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (size_t b = 0; b < s->order.n; b++) {
            struct held h = s->in.at[b];
            for (LLVMValueRef i = LLVMGetFirstInstruction(s->order.at[b]); i; i = LLVMGetNextInstruction(i))
                step(s, f, i, &h);
            LLVMValueRef end = LLVMGetBasicBlockTerminator(s->order.at[b]);
            if (LLVMGetInstructionOpcode(end) == LLVMRet)
                join(out, &h);
            for (unsigned k = 0, n = LLVMGetNumSuccessors(end); k < n; k++)
                changed |= join(&s->in.at[*dh_u64_map_find(&s->blocks, (uintptr_t)LLVMGetSuccessor(end, k))], &h);
        }
    }
}

/* The first call after `i`, or (NULL) of all; NULL: there is none. */
static LLVMValueRef next_call(LLVMValueRef f, LLVMValueRef i)
{
    LLVMBasicBlockRef bb = i ? LLVMGetInstructionParent(i) : LLVMGetFirstBasicBlock(f);
    for (i = i ? LLVMGetNextInstruction(i) : LLVMGetFirstInstruction(bb); bb;) {
        for (; i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMCall || LLVMGetInstructionOpcode(i) == LLVMInvoke)
                return i;
        bb = LLVMGetNextBasicBlock(bb);
        i = bb ? LLVMGetFirstInstruction(bb) : NULL;
    }
    return NULL;
}

static const struct function *callee_of(const struct safety *s, LLVMValueRef call)
{
    LLVMValueRef called = LLVMIsAFunction(LLVMGetCalledValue(call));
    uint64_t *known = called ? dh_u64_map_find(&s->index, (uintptr_t)called) : NULL;
    return known ? &s->functions.at[*known] : NULL;
}

static uint64_t unlocks_in(struct safety *s, LLVMValueRef f)
{
    uint64_t all = 0;
    unsigned lock;
    for (LLVMValueRef i = NULL; (i = next_call(f, i));) {
        const struct function *callee = callee_of(s, i);
        if (lock_of(s, i, &lock) == DH_OP_UNLOCK)
            all |= (uint64_t)1 << lock;
        else if (callee)
            all |= callee->releases;
    }
    return all;
}

/* A wait ends all sections; an end in a function without the entry is of a section that a caller opened. */
static bool closes_others(const struct safety *s, LLVMValueRef f)
{
    bool opens = false, closes = false;
    for (LLVMValueRef i = NULL; (i = next_call(f, i));) {
        const struct function *callee = callee_of(s, i);
        LLVMValueRef called = LLVMIsAFunction(LLVMGetCalledValue(i));
        const char *name = called ? LLVMGetValueName2(called, &(size_t){0}) : "";
        if (strcmp(name, "__dh_heal_wait") == 0 || (callee && callee->closes))
            return true;
        opens |= dh_starts_with(name, "__dh_heal_open");
        closes |= strcmp(name, "__dh_heal_close") == 0;
    }
    return closes && !opens;
}

/* Summaries of functions, independent of their callers. */
static void summarise(struct safety *s)
{
    static const struct held nothing;
    bool changed = true;
    for (int round = 0; changed && round < 8; round++) {
        changed = false;
        for (size_t i = 0; i < s->functions.n; i++) {
            struct function *f = &s->functions.at[i], old = *f;
            struct held out, entry = f->entry;
            f->entry = nothing;
            analyse(s, f, &nothing, &out);
            f->entry = entry;
            f->acquires = out.locks;
            memcpy(f->leaves, out.sections, sizeof f->leaves);
            f->releases = unlocks_in(s, f->at) & ~f->acquires;
            f->closes = closes_others(s, f->at);
            changed |= old.closes != f->closes || old.acquires != f->acquires || old.releases != f->releases ||
                       old.enters != f->enters || memcmp(old.leaves, f->leaves, sizeof f->leaves);
        }
    }
    for (size_t i = 0; i < s->functions.n; i++)
        s->functions.at[i].entry = s->functions.at[i].is_root ? nothing : nowhere;
    memset(s->edges, 0, sizeof s->edges);
}

static void analyse_all(struct safety *s)
{
    struct held out;
    s->changed = true;
    for (int round = 0; s->changed && round < ROUNDS; round++) {
        s->changed = false;
        for (size_t i = 0; i < s->functions.n; i++) {
            struct held entry = s->functions.at[i].entry;
            analyse(s, &s->functions.at[i], &entry, &out);
        }
    }
    s->is_fixpoint = true;
    for (size_t i = 0; i < s->functions.n; i++) {
        struct held entry = s->functions.at[i].entry;
        analyse(s, &s->functions.at[i], &entry, &out);
    }
}

/* ---- cycles of the lock order graph ---- */

/* Of a hook, the place of its access; of another call, its own. */
static char *where_taken(const struct safety *s, LLVMValueRef call)
{
    LLVMValueRef called = LLVMIsAFunction(LLVMGetCalledValue(call));
    const char *name = called ? LLVMGetValueName2(called, &(size_t){0}) : "";
    return dh_starts_with(name, "__dh_") ? where(s, hook_site(s, call)) : where_called(s, call);
}

static void report_cycle(struct safety *s, unsigned group, const unsigned *from, unsigned last)
{
    unsigned path[NODES], n = 0;
    struct dh_str text = {0};
    for (unsigned at = last; at != group; at = from[at])
        path[n++] = at;
    dh_str_addf(&text, "there would be a circle: %s", node_name(s, group));
    unsigned before = group;
    while (n--) {
        char *place = where_taken(s, s->edges[before][path[n]].call);
        dh_str_addf(&text, ", then %s (%s)", node_name(s, path[n]), place);
        free(place);
        if (path[n] < policy(s)->n_groups)
            report(s, DH_RISK_NEIGHBOUR, group, "", dh_strdup(node_name(s, path[n])));
        before = path[n];
    }
    char *place = where_taken(s, s->edges[last][group].call);
    dh_str_addf(&text, ", then %s again (%s)", node_name(s, group), place);
    free(place);
    report(s, DH_RISK_CYCLE, group, "", dh_str_take(&text));
}

/* The shortest cycle through the group, by breadth-first search. */
static void find_cycle(struct safety *s, unsigned group)
{
    unsigned queue[NODES], from[NODES], head = 0, tail = 0;
    bool seen[NODES] = {false};
    queue[tail++] = group;
    seen[group] = true;
    while (head < tail) {
        unsigned at = queue[head++];
        if (at != group && s->edges[at][group].there) {
            report_cycle(s, group, from, at);
            return;
        }
        for (unsigned i = 0; i < NODES; i++)
            if (s->edges[at][i].there && !seen[i]) {
                seen[i] = true;
                from[i] = at;
                queue[tail++] = i;
            }
    }
}

/* ---- all of it ---- */

/* Its address is taken for more than starting threads. */
static bool is_address_taken(const struct safety *s, LLVMValueRef f)
{
    struct dh_site_table t = dh_site_builder_view(s->sites);
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        LLVMOpcode op = LLVMIsAInstruction(user) ? LLVMGetInstructionOpcode(user) : 0;
        uint32_t site = op ? dh_ir_site_of(user) : DH_NO_SITE;
        bool starts = site < t.n_sites && t.sites[site].op == DH_OP_THREAD_CREATE;
        if (!starts && ((op != LLVMCall && op != LLVMInvoke) || LLVMGetCalledValue(user) != f))
            return true;
    }
    return false;
}

/* It is internal, and every use is a call. */
static bool is_only_called(LLVMValueRef f)
{
    LLVMLinkage linkage = LLVMGetLinkage(f);
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        LLVMOpcode op = LLVMIsAInstruction(user) ? LLVMGetInstructionOpcode(user) : 0;
        if ((op != LLVMCall && op != LLVMInvoke) || LLVMGetCalledValue(user) != f)
            return false;
    }
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static void list_functions(struct safety *s, LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) {
            struct function row = {.at = f, .by_pointer = is_address_taken(s, f), .is_root = !is_only_called(f)};
            *dh_u64_map_at(&s->index, (uintptr_t)f) = s->functions.n;
            dh_vec_push(&s->functions, row);
            dh_find_spin_loops(f, &s->spins);
        }
}

struct job {
    const char *program, *module; /* of which one of its modules is looked at */
    const char *plan, *output;
};

/* Start files and libc do not count. */
static bool has_native_units(struct dh_container *c)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    bool found = false;
    if (dh_container_read(c, DH_PART_UNITS, &b, &ignored)) {
        char *text = dh_format("%.*s", (int)b.n, (const char *)b.at), *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));) {
            bool native = dh_starts_with(line, "native ") || dh_starts_with(line, "mixed ");
            const char *name = native ? dh_basename(strchr(line, ' ') + 1) : "";
            found |= native && !dh_starts_with(name, "crt") && !dh_starts_with(name, "Scrt") && !strstr(name, "libc");
        }
        free(text);
        dh_bytes_release(&b);
    }
    dh_err_release(&ignored);
    return found;
}

static bool place_hooks(struct job *j, struct safety *s, struct dh_plan *plan, LLVMModuleRef *m, struct dh_err *err)
{
    struct dh_container c;
    struct dh_bytes sites, module;
    struct dh_site_table t;
    const char *why;
    if (!dh_container_open(&c, j->module, err) || !dh_container_read(&c, DH_PART_SITES, &sites, err) ||
        !dh_container_read(&c, DH_PART_MODULE, &module, err))
        return false;
    if (!dh_site_table_read(&t, sites.at, sites.n, &why))
        return dh_err_set(err, "%s; build the program again", why);
    s->mixed = has_native_units(&c);
    if (!dh_variables_named_outside(j->program, &s->outside, err))
        return false;
    if (!dh_policy_place(j->plan, &t, plan, err))
        return false;
    s->plan = plan->heal;
    s->sites = dh_site_builder_of_table(&t);
    s->places = dh_places_new(s->sites);
    *m = dh_parse_bitcode(dh_context_new(), "embedded module", module.at, module.n, err);
    if (!*m)
        return false;
    LLVMSetIsNewDbgInfoFormat(*m, 0);
    return dh_instrument_heal(*m, plan, s->places, err);
}

/* ---- code without hooks ---- */

static uint32_t group_of_site(const struct safety *s, uint32_t site)
{
    uint32_t variable = site < s->plan->n_marks ? dh_site_mark_variable(s->plan->marks[site]) : 0;
    uint32_t group = variable ? policy(s)->variable_of[variable - 1] : DH_HEAL_NONE;
    return group != DH_HEAL_NONE && keeps_out(s, group) ? group : DH_HEAL_NONE;
}

static bool has_hooks(LLVMValueRef f)
{
    unsigned coroutine = LLVMGetEnumAttributeKindForName("presplitcoroutine", strlen("presplitcoroutine"));
    unsigned naked = LLVMGetEnumAttributeKindForName("naked", strlen("naked"));
    return !LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, coroutine) &&
           !LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, naked);
}

static LLVMValueRef root_of(LLVMValueRef address)
{
    for (int i = 0; i < 16; i++) {
        bool constant = LLVMIsAConstantExpr(address) && LLVMGetConstOpcode(address) == LLVMGetElementPtr;
        if (!LLVMIsAGetElementPtrInst(address) && !LLVMIsABitCastInst(address) && !constant)
            break;
        address = LLVMGetOperand(address, 0);
    }
    return address;
}

/* A variable that the link step did not make internal, since an object without bitcode or a library names it. */
static bool is_named_outside(const struct safety *s, LLVMValueRef access)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(access);
    size_t n;
    LLVMValueRef root = op == LLVMLoad    ? root_of(LLVMGetOperand(access, 0))
                        : op == LLVMStore ? root_of(LLVMGetOperand(access, 1))
                                          : NULL;
    return root && LLVMIsAGlobalVariable(root) && LLVMGetLinkage(root) != LLVMInternalLinkage &&
           LLVMGetLinkage(root) != LLVMPrivateLinkage &&
           (s->mixed || dh_names_has(&s->outside, LLVMGetValueName2(root, &n)));
}

static void find_uninstrumented(struct safety *s, LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                uint32_t site = dh_ir_site_of(i), group = site == DH_NO_SITE ? DH_HEAL_NONE : group_of_site(s, site);
                if (group == DH_HEAL_NONE)
                    continue;
                struct dh_site_table t = dh_site_builder_view(s->sites);
                char *place = where(s, site);
                if (!has_hooks(f))
                    report(s, DH_RISK_OUTSIDE, group, "", dh_format("there can be no hooks at %s", place));
                else if (is_named_outside(s, i))
                    report(s, DH_RISK_OUTSIDE, group, "",
                           dh_format("code that is not instrumented may access %s",
                                     dh_site_string(&t, t.sites[site].variable)));
                free(place);
            }
}

static void report_per_object(struct safety *s, LLVMModuleRef m)
{
    LLVMValueRef at = LLVMGetNamedGlobal(m, DH_HEAL_PER_OBJECT);
    uint64_t groups = at ? LLVMConstIntGetZExtValue(LLVMGetInitializer(at)) : 0;
    for (uint32_t g = 0; g < policy(s)->n_groups; g++)
        if (groups >> g & 1)
            report(s, DH_RISK_BY_OBJECT, g, "", dh_strdup("a lock for each object"));
}

/* In a child that ends afterwards: nothing is freed. */
static bool check_policy(void *arg, struct dh_err *err)
{
    struct job *j = arg;
    struct safety *s = DH_NEW(struct safety);
    struct dh_plan plan = {.everywhere = DH_CLASS_HEAL};
    LLVMModuleRef m = NULL;
    if (!place_hooks(j, s, &plan, &m, err))
        return false;
    if (policy(s)->file.n_sections > SECTIONS)
        return dh_err_set(err, "the policy has more than %d sections; that is too many to check", SECTIONS);
    list_functions(s, m);
    dh_lock_wrappers_find(&s->wrappers, m, s->sites);
    summarise(s);
    analyse_all(s);
    for (unsigned g = 0; g < policy(s)->n_groups; g++)
        find_cycle(s, g);
    report_per_object(s, m);
    find_uninstrumented(s, m);
    return dh_file_write(j->output, s->out.at ? s->out.at : "", s->out.n, 0600, err);
}

static bool read_risks(const char *path, struct dh_heal_risks *out, struct dh_err *err)
{
    struct dh_bytes b;
    if (!dh_file_read(path, &b, err))
        return false;
    char *text = dh_format("%.*s", (int)b.n, (const char *)b.at), *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *kind = strsep(&line, "\t"), *group = strsep(&line, "\t"), *section = strsep(&line, "\t");
        if (!line)
            continue;
        struct dh_heal_risk r = {(enum dh_heal_risk_kind)atoi(kind), dh_strdup(group), dh_strdup(line),
                                 dh_strdup(section)};
        dh_vec_push(&out->at, r);
    }
    free(text);
    dh_bytes_release(&b);
    return true;
}

/* ---- all modules, each by itself ---- */

struct all_modules {
    struct job job;
    struct dh_heal_risks *out;
    struct dh_err *err;
    bool ok;
};

static void check_module(struct all_modules *a, const char *module)
{
    a->job.module = module;
    a->ok = a->ok && dh_child_run("looking into the program", check_policy, &a->job, a->err) &&
            read_risks(a->job.output, a->out, a->err);
}

static void check_library(void *arg, const char *name, const char *path, bool instrumented)
{
    (void)name;
    if (instrumented)
        check_module(arg, path);
}

bool dh_heal_safety(const char *program, const char *text, size_t n, struct dh_heal_risks *out, struct dh_err *err)
{
    struct all_modules a = {.job = {.program = program}, .out = out, .err = err, .ok = true};
    char *plan = NULL, *folder = dh_temp_folder(err), *output = NULL;
    *out = (struct dh_heal_risks){.at = {0}};
    bool ok = folder && dh_policy_keep_text("policy", text, n, &plan, err);
    if (ok) {
        a.job.plan = plan;
        a.job.output = output = dh_format("%s/risks", folder);
        check_module(&a, program);
        ok = a.ok && dh_libraries_each(program, check_library, &a, err) && a.ok;
    }
    if (folder)
        dh_remove_tree(folder);
    free(folder);
    free(output);
    free(plan);
    return ok;
}

void dh_heal_risks_release(struct dh_heal_risks *r)
{
    for (size_t i = 0; i < r->at.n; i++) {
        free(r->at.at[i].group);
        free(r->at.at[i].section);
        free(r->at.at[i].text);
    }
    dh_vec_release(&r->at);
}
