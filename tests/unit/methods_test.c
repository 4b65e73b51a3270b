/* Method consistency: the programs of the chapter, what must be silent, and random traces against the definition
 * written down plainly: every section kept with the activations it lies in, every three of them compared. */
#include "event/scope_table.h"
#include "stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

extern const struct dh_detector dh_detector_methods;

enum { LOCK = 0x100, OTHER_LOCK = 0x200, OBJECT = 0x1000 };

static uint64_t field_at(char field)
{
    return OBJECT + 8u * (unsigned)(field - 'a');
}

/* Small letters are read, capitals written; each place is of the code that it stands in. */
static void use(struct stream *s, unsigned thread, const char *code, const char *fields)
{
    for (; *fields; fields++) {
        bool write = *fields < 'a';
        char name[] = {(char)(*fields | 0x20), 0}, function[64];
        snprintf(function, sizeof function, "%s/%s", code, write ? "w" : "r");
        stream_op(s, thread, write ? DH_EVENT_WRITE : DH_EVENT_READ, field_at(name[0]), 8, 0,
                  stream_place(s, function, name));
    }
}

static void take(struct stream *s, unsigned thread, uint64_t lock, const char *code)
{
    stream_op(s, thread, DH_EVENT_LOCK, lock, 0, 0, stream_place(s, code, "lock"));
}

static void give(struct stream *s, unsigned thread, uint64_t lock)
{
    stream_op(s, thread, DH_EVENT_UNLOCK, lock, 0, 0, DH_NO_PLACE);
}

static void enter(struct stream *s, unsigned thread, const char *function)
{
    stream_op(s, thread, DH_EVENT_ENTER, 0, 0, 0, stream_place(s, function, ""));
}

static void leave(struct stream *s, unsigned thread)
{
    stream_op(s, thread, DH_EVENT_LEAVE, 0, 0, 0, DH_NO_PLACE);
}

/* A function that is one section. */
static void method(struct stream *s, unsigned thread, const char *name, const char *fields)
{
    enter(s, thread, name);
    take(s, thread, LOCK, name);
    use(s, thread, name, fields);
    give(s, thread, LOCK);
    leave(s, thread);
}

static void start_threads(struct stream *s, unsigned n)
{
    for (unsigned t = 1; t <= n; t++)
        stream_op(s, 0, DH_EVENT_THREAD_CREATE, 0, t, 0, DH_NO_PLACE);
    for (unsigned t = 1; t <= n; t++)
        stream_op(s, t, DH_EVENT_THREAD_BEGIN, 0, 0, 0, DH_NO_PLACE);
}

static void begin(struct stream *s, int (*flow)(struct stream *, uint32_t, uint32_t))
{
    stream_begin(s, &dh_detector_methods);
    s->flow = flow;
    start_threads(s, 2);
}

static const char *function_of(struct stream *s, uint32_t place)
{
    struct dh_site_table t = dh_site_builder_view(s->sites);
    return place < t.n_sites ? dh_site_string(&t, t.sites[place].function) : "";
}

static void expect(struct stream *s, const char *const *functions)
{
    size_t n = 0;
    stream_finish(s);
    for (; functions && functions[n]; n++) {
        bool found = false;
        for (size_t i = 0; i < s->found.n; i++)
            found = found || strncmp(s->found.at[i].key + strlen("methods:"), functions[n], strlen(functions[n])) == 0;
        if (!found)
            fail_msg("%s is not told", functions[n]);
    }
    if (s->found.n != n)
        fail_msg("%zu findings, %zu expected; first: %s", s->found.n, n, s->found.n ? s->found.at[0].text : "-");
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(s->found.at[i].kind, DH_FINDING_ATOMICITY);
        assert_int_equal(s->found.at[i].level, DH_LEVEL_SUSPECTED);
    }
    stream_release(s);
}

#define EXPECT(s, ...) expect(s, (const char *const[]){__VA_ARGS__, NULL})
#define SILENT(s) expect(s, NULL)

static int data(struct stream *s, uint32_t read, uint32_t lock)
{
    (void)read, (void)s;
    return lock == DH_NO_PLACE ? 0 : DH_FLOW_DATA;
}

static int control(struct stream *s, uint32_t read, uint32_t lock)
{
    (void)read, (void)s;
    return lock == DH_NO_PLACE ? 0 : DH_FLOW_CONTROL;
}

static int nothing(struct stream *s, uint32_t read, uint32_t lock)
{
    (void)s, (void)read, (void)lock;
    return 0;
}

/* Decides over the section, and what the section reads is tested, too. */
static int control_and_test(struct stream *s, uint32_t read, uint32_t lock)
{
    (void)read, (void)s;
    return lock == DH_NO_PLACE ? DH_FLOW_DECIDES : DH_FLOW_CONTROL;
}

/* ---- the programs of the chapter ---- */

static void update(struct stream *s, unsigned thread)
{
    enter(s, thread, "run");
    enter(s, thread, "update");
    method(s, thread, "read", "b");
    take(s, thread, LOCK, "update");
    use(s, thread, "update", "B");
    give(s, thread, LOCK);
    leave(s, thread);
    leave(s, thread);
}

static void program_5_1(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, data);
    update(&s, 1);
    update(&s, 2);
    EXPECT(&s, "update:b");
    begin(&s, NULL); /* the pattern is enough: read, then written blindly */
    update(&s, 1);
    update(&s, 2);
    EXPECT(&s, "update:b");
    begin(&s, nothing); /* written is something else */
    update(&s, 1);
    update(&s, 2);
    SILENT(&s);
}

static void program_5_2(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, data);
    for (unsigned t = 1; t <= 2; t++) {
        enter(&s, t, "update");
        take(&s, t, LOCK, "update");
        method(&s, t, "read", "b");
        use(&s, t, "update", "B");
        give(&s, t, LOCK);
        leave(&s, t);
    }
    SILENT(&s);
}

static void load_store(struct stream *s, const char *asks, const char *fields)
{
    enter(s, 1, "load");
    method(s, 1, asks, fields);
    method(s, 1, "look_up", "eE");
    leave(s, 1);
    method(s, 2, "shut_down", "EC");
}

static void program_5_3(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, control);
    load_store(&s, "is_closed", "c");
    EXPECT(&s, "load:c|e");
    begin(&s, NULL);
    load_store(&s, "is_closed", "c");
    EXPECT(&s, "load:c|e");
    begin(&s, nothing);
    load_store(&s, "is_closed", "c");
    SILENT(&s);
    begin(&s, control); /* it has made its claim */
    load_store(&s, "claim", "cC");
    SILENT(&s);
}

static void what_asks_again_is_right(void **state)
{
    for (int again = 0; again < 2; again++) {
        struct stream s;
        (void)state;
        begin(&s, again ? control_and_test : control);
        enter(&s, 1, "share");
        method(&s, 1, "size", "t");
        method(&s, 1, "push", "tT");
        leave(&s, 1);
        method(&s, 2, "pop", "tT");
        if (again)
            SILENT(&s);
        else
            EXPECT(&s, "share:t|t");
    }
}

static void program_5_4(void **state)
{
    static int (*const flows[])(struct stream *, uint32_t, uint32_t) = {data, nothing};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stream s;
        begin(&s, flows[i]);
        for (unsigned t = 1; t <= 2; t++) {
            enter(&s, t, "double_it");
            method(&s, t, "inc, called first", "vV");
            method(&s, t, "inc, called again", "vV");
            leave(&s, t);
        }
        if (i == 0)
            EXPECT(&s, "double_it:v");
        else
            SILENT(&s);
    }
}

static void program_5_5(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, NULL);
    for (unsigned t = 1; t <= 2; t++) {
        enter(&s, t, "run");
        method(&s, t, "init", "KV");
        method(&s, t, "get", "kv");
        leave(&s, t);
    }
    SILENT(&s);
}

/* ---- stories ---- */

static void places_of_the_finding(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, data);
    update(&s, 1);
    update(&s, 2);
    stream_finish(&s);
    assert_int_equal(s.found.n, 1);
    assert_int_equal(s.found.at[0].n, 3);
    assert_string_equal(function_of(&s, s.found.at[0].sites[0]), "read/r");
    assert_string_equal(function_of(&s, s.found.at[0].sites[1]), "update/w");
    assert_string_equal(function_of(&s, s.found.at[0].sites[2]), "update/w");
    stream_release(&s);
}

static void without_functions_a_thread_is_one(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, data);
    for (unsigned t = 1; t <= 2; t++) {
        take(&s, t, LOCK, "worker reads");
        use(&s, t, "worker reads", "b");
        give(&s, t, LOCK);
        take(&s, t, LOCK, "worker writes");
        use(&s, t, "worker writes", "B");
        give(&s, t, LOCK);
    }
    EXPECT(&s, "worker writes/w:b");
}

static void functions_one_after_the_other_are_not_one(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, NULL);
    for (unsigned t = 1; t <= 2; t++) {
        method(&s, t, "read", "b");
        method(&s, t, "write", "B");
    }
    SILENT(&s);
}

static void a_wait_is_intended(void **state)
{
    for (uint64_t given_up = LOCK; given_up <= OTHER_LOCK; given_up += OTHER_LOCK - LOCK) {
        struct stream s;
        (void)state;
        begin(&s, data);
        for (unsigned t = 1; t <= 2; t++) {
            enter(&s, t, "serve");
            method(&s, t, "look", "n");
            take(&s, t, given_up, "wait");
            stream_op(&s, t, DH_EVENT_COND_WAIT, 0x300, given_up, 0, DH_NO_PLACE);
            stream_op(&s, t, DH_EVENT_UNLOCK, given_up, 0, DH_EVENT_WAIT, DH_NO_PLACE);
            stream_op(&s, t, DH_EVENT_LOCK, given_up, 0, DH_EVENT_WAIT, DH_NO_PLACE);
            stream_op(&s, t, DH_EVENT_COND_WOKEN, 0x300, given_up, 0, DH_NO_PLACE);
            give(&s, t, given_up);
            method(&s, t, "add", "N");
            leave(&s, t);
        }
        if (given_up == LOCK)
            SILENT(&s);
        else
            EXPECT(&s, "serve:n"); /* it waits for something else, with another lock */
    }
}

static void before_the_threads_are_there_it_is_initialisation(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s, &dh_detector_methods);
    s.flow = data;
    update(&s, 0);
    start_threads(&s, 1);
    method(&s, 1, "set", "B");
    stream_op(&s, 1, DH_EVENT_THREAD_END, 0, 0, 0, DH_NO_PLACE);
    stream_op(&s, 0, DH_EVENT_THREAD_JOIN, 0, 1, 0, DH_NO_PLACE);
    SILENT(&s);
}

static void an_outer_lock_keeps_the_other_out(void **state)
{
    for (int other = 0; other < 2; other++) {
        struct stream s;
        (void)state;
        begin(&s, data);
        take(&s, 1, OTHER_LOCK, "outer");
        update(&s, 1);
        give(&s, 1, OTHER_LOCK);
        if (other)
            take(&s, 2, OTHER_LOCK, "outer of set");
        method(&s, 2, "set", "B");
        if (other) {
            give(&s, 2, OTHER_LOCK);
            SILENT(&s);
        } else
            EXPECT(&s, "update:b");
    }
}

static void asking_again_and_again_is_nothing(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, control);
    enter(&s, 1, "poll");
    for (int i = 0; i < 3; i++)
        method(&s, 1, "is_done", "d");
    leave(&s, 1);
    method(&s, 2, "finish", "D");
    SILENT(&s);
}

static void half_a_transfer_can_be_seen(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, nothing);
    uint32_t balance = stream_place(&s, "deposit", "struct account.balance");
    enter(&s, 1, "transfer");
    for (unsigned i = 0; i < 2; i++) {
        take(&s, 1, LOCK, i ? "to" : "from");
        stream_op(&s, 1, DH_EVENT_READ, OBJECT + 64 * i, 8, 0, balance);
        stream_op(&s, 1, DH_EVENT_WRITE, OBJECT + 64 * i, 8, 0, balance);
        give(&s, 1, LOCK);
    }
    leave(&s, 1);
    take(&s, 2, LOCK, "audit");
    for (unsigned i = 0; i < 2; i++)
        stream_op(&s, 2, DH_EVENT_READ, OBJECT + 64 * i, 8, 0, stream_place(&s, "audit", "struct account.balance"));
    give(&s, 2, LOCK);
    EXPECT(&s, "transfer:struct account.balance");
}

/* ---- random traces ---- */

enum { THREADS = 3, FIELDS = 4, CODES = 6, FUNCTIONS = 4, OPS = 90, TRACES = 6000, MOST = 100, DEEPEST = 5 };

struct naive_section {
    int thread, code;
    bool reads[FIELDS], writes[FIELDS];
    int depth, activation[DEEPEST], function[DEEPEST]; /* outermost first; [0] is the thread */
    uint32_t clock[THREADS];
    int nth;          /* of equal ones, from 1 */
    bool in_function; /* the thread has told of functions by then */
};

struct run {
    struct stream s;
    struct naive_section all[MOST], open[THREADS];
    int n, owner, last_activation;
    int depth[THREADS], activation[THREADS][DEEPEST], function[THREADS][DEEPEST];
    bool tells[THREADS], waits[FUNCTIONS + THREADS];
    bool calls[FUNCTIONS + THREADS][FUNCTIONS + THREADS];
    uint32_t clock[THREADS][THREADS], semaphore[THREADS];
};

static unsigned seed;
static const char *const field_names[FIELDS] = {"a", "b", "c", "d"};
/* By code of the first and the second section; -1 where nobody knows. */
static int flows[CODES][CODES], tested[CODES];

static unsigned below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Places of a code are called "code N" and "code N/r". */
static int random_flow(struct stream *s, uint32_t read, uint32_t lock)
{
    const char *from = function_of(s, read), *to = function_of(s, lock);
    int i = atoi(from + strlen("code "));
    return lock == DH_NO_PLACE ? tested[i] : flows[i][atoi(to + strlen("code "))];
}

static bool has(const struct naive_section *s, int f)
{
    return s->reads[f] || s->writes[f];
}

static bool equal(const struct naive_section *a, const struct naive_section *b)
{
    return a->thread == b->thread && a->code == b->code && memcmp(a->reads, b->reads, sizeof a->reads) == 0 &&
           memcmp(a->writes, b->writes, sizeof a->writes) == 0;
}

/* The innermost activation that holds both: its depth. */
static int common(const struct naive_section *a, const struct naive_section *b)
{
    int d = 0;
    while (d + 1 < a->depth && d + 1 < b->depth && a->activation[d + 1] == b->activation[d + 1])
        d++;
    return d;
}

static bool is_pair(const struct run *r, int i, int j)
{
    const struct naive_section *a = &r->all[i], *b = &r->all[j];
    int d = common(a, b);
    if (i >= j || a->thread != b->thread || a->code == b->code || (d == 0 && b->in_function))
        return false;
    for (int k = i + 1; k < j; k++)
        if (r->all[k].thread == a->thread && r->all[k].code == a->code)
            return false;
    return true;
}

static bool before(const struct naive_section *a, const uint32_t *clock)
{
    return a->clock[a->thread] <= clock[a->thread];
}

static bool clash(const struct naive_section *a, const struct naive_section *q, int x)
{
    return has(a, x) && has(q, x) && (a->writes[x] || q->writes[x]);
}

static bool reason(const struct naive_section *p1, const struct naive_section *p2, const struct naive_section *q, int x,
                   int y)
{
    bool asks = true, same = x == y;
    for (int f = 0; f < FIELDS; f++)
        asks = asks && !(clash(p1, q, f) && p1->writes[f]);
    if (!clash(p1, q, x) || !clash(p2, q, y) || !p1->reads[x] || !q->writes[x])
        return false;
    int how = flows[p1->code][p2->code];
    if (how < 0)
        return (same && !p1->writes[x] && p2->writes[x] && !p2->reads[x]) ||
               (!same && asks && !has(p2, x) && !has(p1, y));
    if (how & DH_FLOW_DATA)
        return true;
    return how & DH_FLOW_CONTROL && asks && (!same || p2->writes[x]) &&
           !(has(p2, x) && tested[p2->code] == DH_FLOW_DECIDES);
}

/* The first and the last time that equal sections were paired in the function. */
static bool comes_between(const struct run *r, int i, int j, const struct naive_section *q)
{
    int first = -1, last = -1, function = r->all[i].function[common(&r->all[i], &r->all[j])];
    for (int b = 0; b < r->n; b++)
        for (int a = 0; a < b; a++)
            if (equal(&r->all[a], &r->all[i]) && equal(&r->all[b], &r->all[j]) && is_pair(r, a, b) &&
                r->all[a].function[common(&r->all[a], &r->all[b])] == function) {
                first = first < 0 ? b : first;
                last = b;
            }
    return (q->nth & (q->nth - 1)) == 0 && !before(q, r->all[first].clock) && !before(&r->all[last], q->clock);
}

static void close_section(struct run *r, int t)
{
    struct naive_section *s = &r->open[t];
    bool any = false;
    s->nth = 1;
    for (int i = 0; i < r->n; i++)
        s->nth += equal(&r->all[i], s);
    memcpy(s->clock, r->clock[t], sizeof s->clock);
    s->depth = r->depth[t];
    s->in_function = r->tells[t];
    memcpy(s->activation, r->activation[t], sizeof s->activation);
    memcpy(s->function, r->function[t], sizeof s->function);
    for (int f = 0; f < FIELDS; f++)
        any = any || has(s, f);
    if (any && r->n < MOST)
        r->all[r->n++] = *s;
}

static void code_name(char *name, size_t n, int code, const char *rest)
{
    snprintf(name, n, "code %d%s", code, rest);
}

static void run_take(struct run *r, int t)
{
    char name[32];
    if (r->owner >= 0)
        return;
    r->owner = t;
    r->open[t] = (struct naive_section){.thread = t, .code = (int)below(CODES)};
    code_name(name, sizeof name, r->open[t].code, "");
    take(&r->s, (unsigned)t, LOCK, name);
}

static void run_give(struct run *r, int t)
{
    if (r->owner != t)
        return;
    give(&r->s, (unsigned)t, LOCK);
    close_section(r, t);
    r->owner = -1;
}

static void run_access(struct run *r, int t)
{
    char name[32];
    int f = (int)below(FIELDS);
    bool write = below(2);
    if (r->owner != t)
        return;
    code_name(name, sizeof name, r->open[t].code, write ? "/w" : "/r");
    stream_op(&r->s, (unsigned)t, write ? DH_EVENT_WRITE : DH_EVENT_READ, OBJECT + 8u * (unsigned)f, 8, 0,
              stream_place(&r->s, name, field_names[f]));
    (write ? r->open[t].writes : r->open[t].reads)[f] = true;
}

static void run_enter(struct run *r, int t)
{
    char name[16];
    int f = (int)below(FUNCTIONS), d = r->depth[t];
    if (d == DEEPEST)
        return;
    snprintf(name, sizeof name, "f%d", f);
    enter(&r->s, (unsigned)t, name);
    r->calls[r->function[t][d - 1]][f] = true;
    r->activation[t][d] = ++r->last_activation;
    r->function[t][d] = f;
    r->depth[t]++;
    r->tells[t] = true;
}

static void run_leave(struct run *r, int t)
{
    if (r->depth[t] < 2)
        return;
    leave(&r->s, (unsigned)t);
    r->depth[t]--;
}

static void run_post(struct run *r, int t, bool post)
{
    uint32_t *from = post ? r->clock[t] : r->semaphore, *to = post ? r->semaphore : r->clock[t];
    stream_op(&r->s, (unsigned)t, post ? DH_EVENT_RELEASE_JOIN : DH_EVENT_ACQUIRE, 0x900, DH_SYNC_SEMAPHORE, 0,
              DH_NO_PLACE);
    for (int u = 0; u < THREADS; u++)
        to[u] = from[u] > to[u] ? from[u] : to[u];
    r->clock[t][t] += post;
}

static void run_wait(struct run *r, int t)
{
    if (r->owner != t || below(6))
        return;
    stream_op(&r->s, (unsigned)t, DH_EVENT_COND_WAIT, 0x300, LOCK, 0, DH_NO_PLACE);
    for (int d = 0; d < r->depth[t]; d++)
        r->waits[r->function[t][d]] = true;
}

static void set_up(struct run *r)
{
    memset(r, 0, sizeof *r);
    r->owner = -1;
    bool known = below(4);
    for (int i = 0; i < CODES; i++) {
        static const int hows[] = {0, 0, DH_FLOW_DATA, DH_FLOW_CONTROL};
        for (int j = 0; j < CODES; j++)
            flows[i][j] = known ? hows[below(4)] : -1;
        tested[i] = known ? (below(2) ? DH_FLOW_DECIDES : 0) : -1;
    }
    stream_begin(&r->s, &dh_detector_methods);
    r->s.flow = random_flow;
    start_threads(&r->s, THREADS - 1);
    for (int t = 0; t < THREADS; t++) {
        r->clock[t][0] = (uint32_t)t;
        r->clock[t][t] = 1;
        r->depth[t] = 1;
        r->function[t][0] = FUNCTIONS + t;
        r->activation[t][0] = ++r->last_activation;
    }
    r->clock[0][0] = THREADS;
}

static void run_trace(struct run *r)
{
    set_up(r);
    bool scopes = below(4);
    for (int i = 0; i < OPS; i++) {
        int t = (int)below(THREADS);
        switch (below(14)) {
        case 0:
        case 1:
        case 2:
            run_take(r, t);
            break;
        case 3:
        case 4:
            run_give(r, t);
            break;
        case 5:
            if (scopes)
                run_enter(r, t);
            break;
        case 6:
            if (scopes)
                run_leave(r, t);
            break;
        case 7:
            if (below(6) == 0)
                run_post(r, t, below(2));
            break;
        case 8:
            run_wait(r, t);
            break;
        default:
            run_access(r, r->owner >= 0 ? r->owner : t);
            break;
        }
    }
    if (r->owner >= 0)
        run_give(r, r->owner);
    stream_finish(&r->s);
}

static bool violates[FUNCTIONS + THREADS][FIELDS][FIELDS];

static void find_violations(const struct run *r)
{
    memset(violates, 0, sizeof violates);
    for (int j = 0; j < r->n; j++)
        for (int i = 0; i < j; i++) {
            if (!is_pair(r, i, j))
                continue;
            int function = r->all[i].function[common(&r->all[i], &r->all[j])];
            for (int k = 0; k < r->n && !r->waits[function]; k++)
                for (int xy = 0; r->all[k].thread != r->all[i].thread && xy < FIELDS * FIELDS; xy++)
                    if (reason(&r->all[i], &r->all[j], &r->all[k], xy / FIELDS, xy % FIELDS) &&
                        comes_between(r, i, j, &r->all[k]))
                        violates[function][xy / FIELDS][xy % FIELDS] = true;
        }
}

static bool violates_at_all(int f)
{
    for (int xy = 0; xy < FIELDS * FIELDS; xy++)
        if (violates[f][xy / FIELDS][xy % FIELDS])
            return true;
    return false;
}

/* -1: a thread without functions. */
static int told_function(const struct stream_found *f)
{
    const char *name = f->key + strlen("methods:");
    return *name == 'f' ? name[1] - '0' : -1;
}

static bool is_below(const struct run *r, int caller, int f, unsigned seen)
{
    for (int g = 0; g < FUNCTIONS; g++)
        if (r->calls[caller][g] && (g == f || (!(seen & 1u << g) && is_below(r, g, f, seen | 1u << g))))
            return true;
    return false;
}

/* What is told is so; and of what is so, the function or one that it calls is told. */
static void compare(const struct run *r, unsigned trace, unsigned *violations)
{
    bool told[FUNCTIONS] = {0}, told_thread = false, is_so = false;
    find_violations(r);
    for (size_t i = 0; i < r->s.found.n; i++) {
        const struct stream_found *found = &r->s.found.at[i];
        const char *x = strrchr(found->key, ':') + 1, *y = strrchr(found->key, '|') + 1;
        int f = told_function(found);
        bool so = f >= 0 && violates[f][*x - 'a'][*y - 'a'];
        for (int t = 0; f < 0 && t < THREADS; t++)
            so = so || violates[FUNCTIONS + t][*x - 'a'][*y - 'a'];
        if (!so)
            fail_msg("trace %u: %s is told and is not so", trace, found->key);
        if (f >= 0)
            told[f] = true;
        else
            told_thread = true;
    }
    for (int f = 0; f < FUNCTIONS; f++) {
        bool covered = told[f] || !violates_at_all(f);
        for (int g = 0; g < FUNCTIONS; g++)
            covered = covered || (told[g] && is_below(r, f, g, 0));
        if (!covered)
            fail_msg("trace %u: f%d is not told", trace, f);
        *violations += violates_at_all(f);
    }
    for (int t = 0; t < THREADS; t++)
        is_so = is_so || violates_at_all(FUNCTIONS + t);
    if (is_so != told_thread)
        fail_msg("trace %u: a thread is %stold", trace, told_thread ? "" : "not ");
    *violations += is_so;
}

static void random_traces_against_the_definition(void **state)
{
    static struct run r;
    unsigned violations = 0;
    (void)state;
    for (unsigned trace = 0; trace < TRACES; trace++) {
        seed = trace * 2654435761u + 7;
        run_trace(&r);
        compare(&r, trace, &violations);
        stream_release(&r.s);
    }
    /* Traces that never show one would prove nothing. */
    assert_true(violations > TRACES / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_5_1),
        cmocka_unit_test(program_5_2),
        cmocka_unit_test(program_5_3),
        cmocka_unit_test(what_asks_again_is_right),
        cmocka_unit_test(program_5_4),
        cmocka_unit_test(program_5_5),
        cmocka_unit_test(places_of_the_finding),
        cmocka_unit_test(without_functions_a_thread_is_one),
        cmocka_unit_test(functions_one_after_the_other_are_not_one),
        cmocka_unit_test(a_wait_is_intended),
        cmocka_unit_test(before_the_threads_are_there_it_is_initialisation),
        cmocka_unit_test(an_outer_lock_keeps_the_other_out),
        cmocka_unit_test(asking_again_and_again_is_nothing),
        cmocka_unit_test(half_a_transfer_can_be_seen),
        cmocka_unit_test(random_traces_against_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
