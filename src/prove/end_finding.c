#include "prove/end_finding.h"

#include "base/alloc.h"
#include "base/str.h"
#include "event/finding_log.h"
#include "finding/modules.h"
#include "prove/nowhere.h"
#include "search/strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const enum dh_finding_kind kinds[DH_ENGINE_ENDS] = {
    [DH_ENGINE_DONE] = DH_FINDING_CRASH,
    [DH_ENGINE_RACE] = DH_FINDING_RACE,
    [DH_ENGINE_UNORDERED] = DH_FINDING_RACE,
    [DH_ENGINE_DEADLOCK] = DH_FINDING_DEADLOCK,
    [DH_ENGINE_LOST_WAKE] = DH_FINDING_LOST_WAKEUP,
    [DH_ENGINE_ASSERTION] = DH_FINDING_ASSERTION,
    [DH_ENGINE_CRASH] = DH_FINDING_CRASH,
    [DH_ENGINE_FREED] = DH_FINDING_USE_AFTER_FREE,
    [DH_ENGINE_HANG] = DH_FINDING_INDEFINITE_WAIT,
    [DH_ENGINE_ATOMICITY] = DH_FINDING_ATOMICITY,
    [DH_ENGINE_CUT] = DH_FINDING_CRASH,
    [DH_ENGINE_WRONG] = DH_FINDING_CRASH,
};

/* The role in a finding of a thread whose next step this is. */
static const uint32_t roles[DH_STEP_COUNT] = {
    [DH_STEP_NONE] = DH_ROLE_CALL,
    [DH_STEP_READ] = DH_ROLE_ACCESS,
    [DH_STEP_WRITE] = DH_ROLE_ACCESS,
    [DH_STEP_RMW] = DH_ROLE_ACCESS,
    [DH_STEP_COPY] = DH_ROLE_ACCESS,
    [DH_STEP_FENCE] = DH_ROLE_CALL,
    [DH_STEP_LOCK] = DH_ROLE_LOCK_WAIT,
    [DH_STEP_UNLOCK] = DH_ROLE_UNLOCK,
    [DH_STEP_WAIT] = DH_ROLE_COND_WAIT,
    [DH_STEP_WAKE] = DH_ROLE_COND_WAIT,
    [DH_STEP_SIGNAL] = DH_ROLE_COND_SIGNAL,
    [DH_STEP_BROADCAST] = DH_ROLE_COND_BROADCAST,
    [DH_STEP_SEM_WAIT] = DH_ROLE_SEM_WAIT,
    [DH_STEP_SEM_POST] = DH_ROLE_SEM_POST,
    [DH_STEP_BARRIER] = DH_ROLE_BARRIER_WAIT,
    [DH_STEP_ONCE] = DH_ROLE_ONCE,
    [DH_STEP_ONCE_END] = DH_ROLE_ONCE,
    [DH_STEP_CREATE] = DH_ROLE_CALL,
    [DH_STEP_BEGIN] = DH_ROLE_CALL,
    [DH_STEP_END] = DH_ROLE_EXIT,
    [DH_STEP_JOIN] = DH_ROLE_JOIN,
    [DH_STEP_CANCEL] = DH_ROLE_CALL,
    [DH_STEP_KILL] = DH_ROLE_CALL,
    [DH_STEP_DELIVER] = DH_ROLE_OTHER_WAIT,
    [DH_STEP_ENTER] = DH_ROLE_CALL,
    [DH_STEP_FUTEX_WAIT] = DH_ROLE_OTHER_WAIT,
    [DH_STEP_FUTEX_WAKE] = DH_ROLE_CALL,
    [DH_STEP_SLEEP] = DH_ROLE_CALL,
    [DH_STEP_YIELD] = DH_ROLE_CALL,
    [DH_STEP_FREE] = DH_ROLE_ACCESS,
    [DH_STEP_IO] = DH_ROLE_OTHER_WAIT,
    [DH_STEP_INIT] = DH_ROLE_CALL,
    [DH_STEP_DESTROY] = DH_ROLE_DESTROY,
};

static uint32_t role_of(const struct dh_engine_party *p)
{
    uint32_t role = p->kind < DH_STEP_COUNT ? roles[p->kind] : DH_ROLE_CALL;
    return role == DH_ROLE_LOCK_WAIT && (p->flags & DH_STEP_SHARED) ? (uint32_t)DH_ROLE_RDLOCK_WAIT : role;
}

static uint32_t flags_of(const struct dh_engine_party *p)
{
    uint32_t flags = p->flags & DH_STEP_WRITES ? DH_LOG_WRITE : 0;
    flags |= p->flags & DH_STEP_ATOMIC ? DH_LOG_ATOMIC : 0;
    return p->kind == DH_STEP_FREE ? flags | DH_LOG_FREE | DH_LOG_WRITE : flags;
}

/* A thread that failed is past its step: only its place says what it was doing. */
static void fill_failure(struct dh_log_access *a, const struct dh_site *site)
{
    enum dh_group group = site ? dh_op_info(site->op)->group : DH_GROUP_CALL;
    if (group == DH_GROUP_FREE) {
        a->role = DH_ROLE_ACCESS;
        a->flags = DH_LOG_FREE | DH_LOG_WRITE;
    }
    if (group != DH_GROUP_ACCESS && group != DH_GROUP_ATOMIC && group != DH_GROUP_MEMORY)
        return;
    a->role = DH_ROLE_ACCESS;
    a->size = site->size;
    a->flags = (site->op != DH_OP_READ && site->op != DH_OP_ATOMIC_LOAD ? DH_LOG_WRITE : 0u) |
               (group == DH_GROUP_ATOMIC ? DH_LOG_ATOMIC : 0u);
}

static const struct dh_site *site_at(const struct dh_end_context *of, const struct dh_log_access *a)
{
    static const uint8_t any[16];
    if (a->module == DH_LOG_NONE || a->module > of->n_libraries)
        return NULL;
    const char *path = a->module ? of->libraries[a->module - 1].path : of->variant;
    struct dh_known_module *m = dh_modules_get(dh_resolver_modules(of->resolver), path, a->module ? any : of->build);
    const struct dh_site_table *sites = dh_known_sites(m), *chains;
    uint32_t site, chain;
    if (!sites || !dh_place_find(dh_known_places(m), sites, a->place, &site, &chain, &chains) || site == DH_NO_SITE)
        return NULL;
    return &sites->sites[site];
}

/* Module and place within it: the executable is number 0, libraries follow. */
static void set_place(const struct dh_end_context *of, struct dh_log_access *a, uint32_t place)
{
    bool known = place != UINT32_MAX;
    a->place = known ? place : DH_LOG_NONE;
    a->module = known ? 0 : DH_LOG_NONE;
    for (uint32_t i = 0; known && i < of->n_libraries; i++)
        if (place - of->libraries[i].first < of->libraries[i].count) {
            a->module = 1 + i;
            a->place = place - of->libraries[i].first;
        }
}

/* Relative to the module that lies there. */
static struct dh_log_address module_address(const struct dh_end_context *of, const struct dh_engine_found *found,
                                            uint64_t address)
{
    for (uint32_t i = 0; i <= of->n_libraries; i++)
        if (found->images[i].start && address - found->images[i].start < found->images[i].end - found->images[i].start)
            return (struct dh_log_address){address - found->images[i].bias, i};
    return (struct dh_log_address){address, DH_LOG_NONE};
}

/* Return addresses in instrumented modules as a call stack; `room` holds the frames. */
static struct dh_log_stack stack_of(const struct dh_end_context *of, const struct dh_engine_found *found,
                                    const uint64_t callers[DH_ENGINE_FRAMES], struct dh_log_address *room)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < DH_ENGINE_FRAMES && callers[i]; i++) {
        room[n] = module_address(of, found, callers[i]);
        n += room[n].module != DH_LOG_NONE;
    }
    return (struct dh_log_stack){.frames = room, .n_frames = n};
}

static bool is_nowhere(const struct dh_end_context *of, uint32_t place, uint8_t kind)
{
    return !place && dh_is_nowhere(place, kind, site_at(of, &(struct dh_log_access){0}));
}

/* Place 0 stands for none in threads that failed before they came to any, too. */
static uint32_t known_place(const struct dh_end_context *of, const struct dh_engine_found *found,
                            const struct dh_engine_party *p)
{
    bool failed =
        found->kind == DH_ENGINE_ASSERTION || found->kind == DH_ENGINE_CRASH || found->kind == DH_ENGINE_FREED;
    return (failed && !p->place) || is_nowhere(of, p->place, p->kind) ? UINT32_MAX : p->place;
}

static void fill_access(const struct dh_end_context *of, struct dh_log_access *a, const struct dh_engine_found *found,
                        const struct dh_engine_party *p)
{
    uint64_t address = p->kind == DH_STEP_IO ? 0 : p->object; /* of i/o the object is the engine's, no variable */
    *a = (struct dh_log_access){.thread = p->thread,
                                .flags = flags_of(p),
                                .role = role_of(p),
                                .size = p->size,
                                .address = address,
                                .where = module_address(of, found, address),
                                .note = ""};
    set_place(of, a, known_place(of, found, p));
}

/* Locks of one access in the terms of the log: what the pointers of its locks point into. */
struct lock_room {
    struct dh_log_lock locks[DH_ENGINE_LOCKS];
    struct dh_log_address frames[DH_ENGINE_LOCKS][DH_ENGINE_FRAMES];
};

static void fill_locks(const struct dh_end_context *of, struct dh_log_access *a, const struct dh_engine_found *found,
                       const struct dh_engine_lock from[DH_ENGINE_LOCKS], struct lock_room *room)
{
    for (uint32_t i = 0; i < DH_ENGINE_LOCKS && from[i].object; i++) {
        struct dh_log_access at; /* for its place only */
        set_place(of, &at, is_nowhere(of, from[i].place, DH_STEP_LOCK) ? UINT32_MAX : from[i].place);
        room->locks[a->n_locks++] =
            (struct dh_log_lock){.address = from[i].object,
                                 .where = module_address(of, found, from[i].object),
                                 .shared = from[i].is_shared,
                                 .place = at.place,
                                 .module = at.module,
                                 .taken = stack_of(of, found, from[i].callers, room->frames[i])};
    }
    a->locks = room->locks;
}

/* Order of the accesses: waits for conditions first, as they name an indefinite wait, joins last. */
enum { RANKS = 3 };
static unsigned rank_of(const struct dh_engine_party *p)
{
    return p->kind == DH_STEP_WAIT || p->kind == DH_STEP_WAKE ? 0 : p->kind == DH_STEP_JOIN ? 2 : 1;
}

/* What pointers of a finding's accesses point into. */
struct access_room {
    struct dh_log_address frames[DH_LOG_ACCESSES][DH_ENGINE_FRAMES];
    struct lock_room locks[DH_ENGINE_PAIR];
};

static void fill_accesses(const struct dh_end_context *of, struct dh_log_finding *f,
                          const struct dh_engine_found *found, struct access_room *room)
{
    bool is_pair = found->kind == DH_ENGINE_RACE || found->kind == DH_ENGINE_UNORDERED;
    uint32_t n = found->n_parties < DH_ENGINE_PARTIES ? found->n_parties : DH_ENGINE_PARTIES;
    for (unsigned rank = 0; rank < RANKS; rank++)
        for (uint32_t i = 0; i < n && f->n_accesses < DH_LOG_ACCESSES; i++)
            if (rank_of(&found->parties[i]) == rank) {
                struct dh_log_access *a = &f->access[f->n_accesses];
                fill_access(of, a, found, &found->parties[i]);
                if (is_pair && i < DH_ENGINE_PAIR)
                    fill_locks(of, a, found, found->locks[i], &room->locks[i]);
                a->stack = stack_of(of, found, found->callers[i], room->frames[f->n_accesses++]);
            }
}

/* ---- failed assertions: "file.c:12: int function(void): expression" ---- */

struct assertion {
    char *file, *function, *expression;
    unsigned line;
};

/* "void Account::take(int)" is Account::take. */
static char *function_in(const char *signature, size_t n)
{
    char *text = dh_format("%.*s", (int)n, signature), *end = strchr(text, '(');
    if (end)
        *end = 0;
    char *space = strrchr(text, ' '), *name = space ? space + 1 : text;
    char *out = dh_strdup(name[0] == '*' ? name + 1 : name);
    free(text);
    return out;
}

static bool read_assertion(const char *text, struct assertion *a)
{
    for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ':')) {
        int n = 0;
        unsigned line;
        if (sscanf(p, ":%u: %n", &line, &n) != 1 || !n)
            continue;
        const char *signature = p + n, *expression = strstr(signature, ": ");
        if (!expression)
            return false;
        *a = (struct assertion){.file = dh_format("%.*s", (int)(p - text), text),
                                .function = function_in(signature, (size_t)(expression - signature)),
                                .expression = dh_strdup(expression + 2),
                                .line = line};
        return true;
    }
    return false;
}

/* The line of the assertion replaces the last place of the thread, which differs from run to run. */
static void name_assertion(struct dh_finding *f)
{
    struct assertion parsed;
    struct dh_finding_access *a = f->accesses.n ? &f->accesses.at[0] : NULL;
    if (!a || !read_assertion(f->text, &parsed))
        return;
    struct dh_finding_frame frame = {parsed.function, parsed.file, parsed.line, 0, dh_strdup(""), 0};
    dh_finding_stack_release(&a->stack);
    a->stack = (struct dh_finding_stack){0};
    dh_vec_push(&a->stack.frames, frame);
    free(a->site);
    a->site = dh_format("%s:%s:%s:assert", dh_basename(parsed.file), parsed.function, parsed.expression);
    dh_finding_set(&a->op, "assertion");
    dh_finding_set(&a->object, "");
    dh_finding_set(&a->variable, "");
    dh_finding_set(&f->variable, parsed.expression);
    dh_finding_set(&f->type, "");
    free(parsed.expression);
    dh_finding_fingerprint(f);
}

/* The program ended by itself: where its first thread made its last step says nothing of that. */
static void name_wrong_end(struct dh_finding *f, const char *program, int status)
{
    struct dh_finding_access *a = f->accesses.n ? &f->accesses.at[0] : NULL;
    if (!a)
        return;
    dh_finding_stack_release(&a->stack);
    a->stack = (struct dh_finding_stack){0};
    dh_vec_push(&a->stack.frames,
                ((struct dh_finding_frame){dh_strdup("exit"), dh_strdup(""), 0, 0, dh_strdup(""), 0}));
    a->size = 0;
    free(a->site);
    a->site = dh_format("%s:exit status %d", dh_basename(program), status);
    dh_finding_set(&a->op, "end of the program");
    dh_finding_set(&a->object, "");
    dh_finding_set(&a->variable, "");
    dh_finding_set(&f->variable, strchr(a->site, ':') + 1);
    dh_finding_set(&f->type, "");
    dh_finding_fingerprint(f);
}

/* Use after free and double free: the text of the engine, "used: freed by thread 2 at place 25", has the other access.
 */
static void fill_free(const struct dh_end_context *of, struct dh_log_finding *f, const struct dh_engine_found *found)
{
    const char *at = strstr(found->text, "freed by thread ");
    unsigned thread, place;
    if (!at || sscanf(at, "freed by thread %u at place %u", &thread, &place) != 2 || f->n_accesses >= DH_LOG_ACCESSES)
        return;
    f->access[f->n_accesses++] = (struct dh_log_access){.thread = thread,
                                                        .flags = DH_LOG_FREE | DH_LOG_WRITE,
                                                        .address = found->parties[0].object,
                                                        .where = {found->parties[0].object, DH_LOG_NONE},
                                                        .note = ""};
    set_place(of, &f->access[f->n_accesses - 1], is_nowhere(of, place, DH_STEP_FREE) ? UINT32_MAX : place);
    f->text = "";
}

void dh_end_finding(const struct dh_end_context *of, const struct dh_engine_found *found, struct dh_finding *out)
{
    struct dh_log_module modules[1 + DH_ENGINE_LIBRARIES] = {{.path = of->variant}};
    memcpy(modules[0].id, of->build, sizeof modules[0].id);
    for (uint32_t i = 0; i < of->n_libraries; i++)
        modules[1 + i] = (struct dh_log_module){.path = of->libraries[i].path};
    struct dh_log_process process = {.pid = (uint32_t)getpid(), .path = of->variant, .original = of->program};
    memcpy(process.id, of->build, sizeof process.id);
    struct dh_log_finding f = {.kind = kinds[found->kind < DH_ENGINE_ENDS ? found->kind : 0],
                               .level = DH_LEVEL_OBSERVED,
                               .time = (uint64_t)time(NULL),
                               .detector = "prove",
                               .text = "",
                               .key = "",
                               .where = {0, DH_LOG_NONE},
                               .modules = modules,
                               .n_modules = 1 + of->n_libraries};
    char *text = dh_format("%.*s", DH_ENGINE_TEXT, found->text);
    text[strcspn(text, "\n")] = 0;
    if (found->kind == DH_ENGINE_WRONG && !*text) {
        free(text);
        text = dh_format("it ends with exit status %d, which it does not when no thread is interrupted",
                         found->outcome.status);
    }
    f.text = text;
    struct access_room room;
    fill_accesses(of, &f, found, &room);
    if (found->kind == DH_ENGINE_ASSERTION || found->kind == DH_ENGINE_CRASH || found->kind == DH_ENGINE_FREED)
        for (uint32_t i = 0; i < f.n_accesses; i++)
            fill_failure(&f.access[i], site_at(of, &f.access[i]));
    if (found->kind == DH_ENGINE_FREED)
        fill_free(of, &f, found);
    if (found->kind == DH_ENGINE_RACE && f.n_accesses) {
        f.n_held = found->parties[0].size <= sizeof found->parties[0].second ? found->parties[0].size : 0;
        memcpy(f.held, &found->parties[0].second, f.n_held);
    }
    if (f.n_accesses) {
        f.address = f.access[0].address;
        f.size = f.access[0].size;
    }
    dh_resolve(of->resolver, &process, &f, out);
    if (found->kind == DH_ENGINE_ASSERTION)
        name_assertion(out);
    if (found->kind == DH_ENGINE_WRONG)
        name_wrong_end(out, of->program, found->outcome.status);
    free(text);
}

/* ---- records ---- */

struct dh_engine_found *dh_found_end_copy(const struct dh_engine_found *f, uint64_t room)
{
    uint32_t size = __atomic_load_n(&f->size, __ATOMIC_RELAXED);
    if (room < sizeof *f || size < sizeof *f || size > room || size % 8)
        return NULL;
    struct dh_engine_found *copy = dh_xmemdup(f, size);
    copy->size = size;
    copy->text[DH_ENGINE_TEXT - 1] = 0;
    if ((uint64_t)copy->n_decisions * sizeof *copy->decisions > size - sizeof *copy || copy->kind >= DH_ENGINE_ENDS) {
        free(copy);
        return NULL;
    }
    return copy;
}

static uint32_t kept(const struct dh_engine_found *f)
{
    return f->n_parties < DH_ENGINE_PARTIES ? f->n_parties : DH_ENGINE_PARTIES;
}

static bool has_party(const struct dh_engine_found *f, const struct dh_engine_party *p)
{
    for (uint32_t i = 0; i < kept(f); i++)
        if (f->parties[i].thread == p->thread && f->parties[i].place == p->place && f->parties[i].kind == p->kind)
            return true;
    return false;
}

static bool same_stream(uint64_t a, uint64_t b)
{
    return a == b || a == UINT64_MAX || b == UINT64_MAX;
}

static bool same_outcome(const struct dh_engine_outcome *a, const struct dh_engine_outcome *b)
{
    return a->status == b->status && same_stream(a->output, b->output) && same_stream(a->errors, b->errors);
}

bool dh_end_is_same(const struct dh_engine_found *a, const struct dh_engine_found *b)
{
    if (a->kind != b->kind || kept(a) != kept(b) || a->signal != b->signal)
        return false;
    if (a->kind == DH_ENGINE_WRONG)
        return same_outcome(&a->outcome, &b->outcome);
    for (uint32_t i = 0; i < kept(a); i++)
        if (!has_party(b, &a->parties[i]))
            return false;
    return true;
}
