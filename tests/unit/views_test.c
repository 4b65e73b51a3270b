/* View consistency: the tables of the paper, what must be silent, and random traces against the definition written
 * down plainly: every section kept, every three of them compared byte by byte. */
#include "stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

extern const struct dh_detector dh_detector_views;

enum { LOCK = 0x100, OTHER_LOCK = 0x200, OBJECT = 0x1000, MUTEX_SIZE = 40 };

static uint64_t field_at(char field)
{
    return OBJECT + 8u * (unsigned)(field - 'a');
}

static void use(struct stream *s, unsigned thread, bool write, char field)
{
    char name[] = {field, 0};
    stream_op(s, thread, write ? DH_EVENT_WRITE : DH_EVENT_READ, field_at(field), 8, 0,
              stream_place(s, write ? "w" : "r", name));
}

static void take(struct stream *s, unsigned thread, uint64_t lock, const char *code)
{
    stream_op(s, thread, DH_EVENT_LOCK, lock, 0, 0, stream_place(s, code, "lock"));
}

static void give(struct stream *s, unsigned thread, uint64_t lock)
{
    stream_op(s, thread, DH_EVENT_UNLOCK, lock, 0, 0, DH_NO_PLACE);
}

/* One section: small letters are read, capitals written; each set of fields is a code of its own. */
static void section(struct stream *s, unsigned thread, uint64_t lock, const char *fields)
{
    take(s, thread, lock, fields);
    for (; *fields; fields++)
        use(s, thread, *fields < 'a', (char)(*fields | 0x20));
    give(s, thread, lock);
}

static void start_threads(struct stream *s, unsigned n)
{
    for (unsigned t = 1; t <= n; t++)
        stream_op(s, 0, DH_EVENT_THREAD_CREATE, 0, t, 0, DH_NO_PLACE);
    for (unsigned t = 1; t <= n; t++)
        stream_op(s, t, DH_EVENT_THREAD_BEGIN, 0, 0, 0, DH_NO_PLACE);
}

static void begin(struct stream *s, unsigned threads)
{
    stream_begin(s, &dh_detector_views);
    start_threads(s, threads);
}

/* ---- the paper ---- */

/* V(t) of every thread, and which sets are in conflict ("" ends). All accesses are writes. */
static const struct {
    const char *views[3][4];
    const char *expected[3];
} tables[] = {
    {{{"X", "Y"}, {"X", "Y"}}, {0}},
    {{{"XY"}, {"X", "Y"}}, {"views:x|y"}},
    {{{"XY", "X", "Y"}, {"X", "Y"}}, {"views:x|y"}},
    {{{"XYZ"}, {"XY", "X"}}, {0}},
    {{{"XY"}, {"X"}, {"X", "Y"}}, {"views:x|y"}},
    {{{"XY"}, {"X"}, {"Y"}}, {0}},
    {{{"XY", "X", "Y"}, {"YZ", "Y", "Z"}, {"ZX", "Z", "X"}}, {0}},
    /* The second follows from the definition, though Table 2 does not print it: {z, x} against {x, y} and {y, z}. */
    {{{"XY", "X", "YZ"}, {"YZ", "Y", "Z"}, {"ZX", "Z", "X"}}, {"views:y|z", "views:x|z"}},
};

static bool was_found(const struct stream *s, const char *key)
{
    for (size_t i = 0; i < s->found.n; i++)
        if (strcmp(s->found.at[i].key, key) == 0 && s->found.at[i].kind == DH_FINDING_VIEW &&
            s->found.at[i].level == DH_LEVEL_SUSPECTED)
            return true;
    return false;
}

static void the_tables_of_the_paper(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct stream s;
        size_t expected = 0;
        begin(&s, 3);
        stream_place(&s, "names in order", "x");
        for (unsigned t = 0; t < 3; t++)
            for (int v = 0; v < 4 && tables[i].views[t][v]; v++)
                section(&s, t + 1, LOCK, tables[i].views[t][v]);
        stream_finish(&s);
        for (; expected < 3 && tables[i].expected[expected]; expected++)
            if (!was_found(&s, tables[i].expected[expected]))
                fail_msg("example %zu: %s is missing", i + 1, tables[i].expected[expected]);
        if (s.found.n != expected)
            fail_msg("example %zu: %zu findings, %zu expected", i + 1, s.found.n, expected);
        stream_release(&s);
    }
}

/* ---- stories ---- */

static void expect(struct stream *s, size_t n)
{
    stream_finish(s);
    if (s->found.n != n)
        fail_msg("%zu findings, %zu expected; first: %s", s->found.n, n, s->found.n ? s->found.at[0].text : "-");
    stream_release(s);
}

static void what_is_only_read_is_silent(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    section(&s, 1, LOCK, "xy");
    section(&s, 2, LOCK, "x");
    section(&s, 2, LOCK, "y");
    section(&s, 2, LOCK, "Z"); /* z is written, x and y are not */
    expect(&s, 0);
}

static void a_reader_of_both_sees_half_an_update(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    section(&s, 1, LOCK, "xy");
    section(&s, 2, LOCK, "X");
    section(&s, 2, LOCK, "Y");
    stream_finish(&s);
    assert_int_equal(s.found.n, 1);
    assert_int_equal(s.found.at[0].n, 4);
    /* The reader's x, the writer's x, the reader's y, the writer's y. */
    assert_int_equal(s.found.at[0].sites[0], stream_place(&s, "r", "x"));
    assert_int_equal(s.found.at[0].sites[1], stream_place(&s, "w", "x"));
    assert_int_equal(s.found.at[0].sites[2], stream_place(&s, "r", "y"));
    assert_int_equal(s.found.at[0].sites[3], stream_place(&s, "w", "y"));
    stream_release(&s);
}

static void a_writer_of_both_comes_between_two_reads(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    section(&s, 1, LOCK, "x");
    section(&s, 1, LOCK, "y");
    section(&s, 2, LOCK, "XY");
    expect(&s, 1);
}

static void an_outer_lock_around_all_is_judged_itself(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    take(&s, 1, OTHER_LOCK, "outer");
    section(&s, 1, LOCK, "X");
    section(&s, 1, LOCK, "Y");
    give(&s, 1, OTHER_LOCK);
    take(&s, 2, OTHER_LOCK, "outer of two");
    section(&s, 2, LOCK, "xy");
    give(&s, 2, OTHER_LOCK);
    expect(&s, 0);
}

static void an_outer_lock_of_one_protects_nothing(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    take(&s, 1, OTHER_LOCK, "outer");
    section(&s, 1, LOCK, "X");
    section(&s, 1, LOCK, "Y");
    give(&s, 1, OTHER_LOCK);
    section(&s, 2, LOCK, "xy");
    expect(&s, 1);
}

static void the_elevator_may_have_taken_the_branch(void **state)
{
    static const char *const third_path[] = {"a", "b", "c", NULL};
    const char *const *may[64] = {0};
    struct stream s;
    (void)state;
    begin(&s, 2);
    may[stream_place(&s, "BC", "lock")] = third_path;
    s.may = may;
    s.n_may = 64;
    section(&s, 1, LOCK, "AC");
    section(&s, 1, LOCK, "BC");
    section(&s, 2, LOCK, "ABC");
    expect(&s, 0);
}

static void without_the_other_path_it_is_a_conflict(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    section(&s, 1, LOCK, "AC");
    section(&s, 1, LOCK, "BC");
    section(&s, 2, LOCK, "ABC");
    expect(&s, 1);
}

static void the_same_code_did_take_the_branch_once(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    section(&s, 1, LOCK, "AC");
    take(&s, 1, LOCK, "polls");
    use(&s, 1, true, 'b');
    use(&s, 1, true, 'c');
    give(&s, 1, LOCK);
    take(&s, 2, LOCK, "polls");
    use(&s, 2, true, 'b');
    use(&s, 2, true, 'c');
    use(&s, 2, true, 'a');
    give(&s, 2, LOCK);
    section(&s, 2, LOCK, "ABC");
    expect(&s, 0);
}

static void a_wait_belongs_to_the_section(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    take(&s, 1, LOCK, "asks");
    use(&s, 1, true, 'q');
    stream_op(&s, 1, DH_EVENT_COND_WAIT, 0x300, LOCK, 0, DH_NO_PLACE);
    stream_op(&s, 1, DH_EVENT_UNLOCK, LOCK, 0, DH_EVENT_WAIT, DH_NO_PLACE);
    section(&s, 2, LOCK, "qA"); /* answers */
    stream_op(&s, 1, DH_EVENT_LOCK, LOCK, 0, DH_EVENT_WAIT, DH_NO_PLACE);
    stream_op(&s, 1, DH_EVENT_COND_WOKEN, 0x300, LOCK, 0, DH_NO_PLACE);
    use(&s, 1, false, 'a');
    give(&s, 1, LOCK);
    expect(&s, 0);
}

/* What waits is not atomic: its two halves are no maximal view together. */
static void a_section_with_a_wait_holds_nothing_together(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    take(&s, 1, LOCK, "waits");
    use(&s, 1, false, 'x');
    stream_op(&s, 1, DH_EVENT_COND_WAIT, 0x300, LOCK, 0, DH_NO_PLACE);
    stream_op(&s, 1, DH_EVENT_UNLOCK, LOCK, 0, DH_EVENT_WAIT, DH_NO_PLACE);
    section(&s, 2, LOCK, "X");
    section(&s, 2, LOCK, "Y");
    stream_op(&s, 1, DH_EVENT_LOCK, LOCK, 0, DH_EVENT_WAIT, DH_NO_PLACE);
    stream_op(&s, 1, DH_EVENT_COND_WOKEN, 0x300, LOCK, 0, DH_NO_PLACE);
    use(&s, 1, false, 'y');
    give(&s, 1, LOCK);
    expect(&s, 0);
}

static void before_the_threads_are_there_it_is_initialisation(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s, &dh_detector_views);
    section(&s, 0, LOCK, "X");
    section(&s, 0, LOCK, "Y");
    start_threads(&s, 1);
    section(&s, 1, LOCK, "xy");
    stream_op(&s, 1, DH_EVENT_THREAD_END, 0, 0, 0, DH_NO_PLACE);
    stream_op(&s, 0, DH_EVENT_THREAD_JOIN, 0, 1, 0, DH_NO_PLACE);
    expect(&s, 0);
}

static void after_the_join_nobody_comes_between(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 1);
    section(&s, 1, LOCK, "xy");
    stream_op(&s, 1, DH_EVENT_THREAD_END, 0, 0, 0, DH_NO_PLACE);
    stream_op(&s, 0, DH_EVENT_THREAD_JOIN, 0, 1, 0, DH_NO_PLACE);
    section(&s, 0, LOCK, "X");
    section(&s, 0, LOCK, "Y");
    expect(&s, 0);
}

/* Elements are accessed one by one and all together everywhere. */
static void elements_of_an_array_are_one_variable(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    uint32_t place = stream_place(&s, "walk", "table[].value");
    for (unsigned round = 0; round < 2; round++) {
        take(&s, 2, LOCK, round ? "put" : "remove");
        stream_op(&s, 2, DH_EVENT_WRITE, OBJECT + 64 * round, 8, 0, place);
        give(&s, 2, LOCK);
    }
    take(&s, 1, LOCK, "sum");
    stream_op(&s, 1, DH_EVENT_READ, OBJECT, 8, 0, place);
    stream_op(&s, 1, DH_EVENT_READ, OBJECT + 64, 8, 0, place);
    give(&s, 1, LOCK);
    expect(&s, 0);
}

/* A bucket that is reached through a pointer is still one of the buckets. */
static void elements_may_be_reached_by_pointer(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    uint32_t bucket = stream_place(&s, "put", "map.buckets[]"), pointer = stream_place(&s, "remove", "*p");
    take(&s, 1, LOCK, "get");
    stream_op(&s, 1, DH_EVENT_READ, OBJECT, 8, 0, bucket);
    give(&s, 1, LOCK);
    take(&s, 1, LOCK, "remove");
    stream_op(&s, 1, DH_EVENT_WRITE, OBJECT + 8, 8, 0, pointer);
    use(&s, 1, true, 'n');
    give(&s, 1, LOCK);
    take(&s, 2, LOCK, "put");
    stream_op(&s, 2, DH_EVENT_WRITE, OBJECT, 8, 0, bucket);
    stream_op(&s, 2, DH_EVENT_WRITE, OBJECT + 16, 8, 0, bucket);
    use(&s, 2, true, 'n');
    give(&s, 2, LOCK);
    expect(&s, 0);
}

/* A look-up goes along by `*link`, which is the same as the items' `next`. */
static void two_names_for_one_field(void **state)
{
    static const char *const walk[] = {"*link", "item.value", NULL};
    const char *const *may[64] = {0};
    struct stream s;
    (void)state;
    begin(&s, 2);
    uint32_t next = stream_place(&s, "grow", "item.next"), link = stream_place(&s, "find", "*link"),
             value = stream_place(&s, "get", "item.value");
    may[stream_place(&s, "get", "lock")] = walk;
    s.may = may;
    s.n_may = 64;
    take(&s, 1, LOCK, "get");
    stream_op(&s, 1, DH_EVENT_READ, OBJECT, 8, 0, value);
    give(&s, 1, LOCK);
    take(&s, 1, LOCK, "remove");
    stream_op(&s, 1, DH_EVENT_READ, OBJECT + 8, 8, 0, next);
    give(&s, 1, LOCK);
    take(&s, 2, LOCK, "find");
    stream_op(&s, 2, DH_EVENT_READ, OBJECT + 8, 8, 0, link);
    give(&s, 2, LOCK);
    take(&s, 2, LOCK, "set");
    stream_op(&s, 2, DH_EVENT_WRITE, OBJECT, 8, 0, value);
    stream_op(&s, 2, DH_EVENT_WRITE, OBJECT + 8, 8, 0, next);
    give(&s, 2, LOCK);
    expect(&s, 0);
}

static void write_to(struct stream *s, unsigned thread, unsigned kind, uint64_t at, const char *variable)
{
    stream_op(s, thread, kind, at, 8, 0, stream_place(s, kind == DH_EVENT_WRITE ? "set" : "get", variable));
}

static void two_objects_with_a_lock_each(struct stream *s, uint64_t at)
{
    uint64_t lock = at + 32;
    take(s, 1, lock, "set x");
    write_to(s, 1, DH_EVENT_WRITE, at, "struct coord.x");
    give(s, 1, lock);
    take(s, 1, lock, "set y");
    write_to(s, 1, DH_EVENT_WRITE, at + 8, "struct coord.y");
    give(s, 1, lock);
    take(s, 2, lock, "get both");
    write_to(s, 2, DH_EVENT_READ, at, "struct coord.x");
    write_to(s, 2, DH_EVENT_READ, at + 8, "struct coord.y");
    give(s, 2, lock);
}

/* Three records of key and amount under one lock: read, or written, one field at a time; gone over as a whole. */
static void table_of_records(struct stream *s, unsigned single, unsigned walk)
{
    take(s, 1, LOCK, "key");
    write_to(s, 1, single, OBJECT, "struct row.key");
    give(s, 1, LOCK);
    take(s, 1, LOCK, "amount");
    write_to(s, 1, single, OBJECT + 8, "struct row.amount");
    give(s, 1, LOCK);
    take(s, 2, LOCK, "walk");
    for (uint64_t i = 0; i < 3; i++) {
        write_to(s, 2, walk, OBJECT + 16 * i, "struct row.key");
        write_to(s, 2, walk, OBJECT + 16 * i + 8, "struct row.amount");
    }
    give(s, 2, LOCK);
}

static void a_table_may_be_read_by_fields(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    table_of_records(&s, DH_EVENT_READ, DH_EVENT_WRITE);
    expect(&s, 0);
    begin(&s, 2);
    table_of_records(&s, DH_EVENT_WRITE, DH_EVENT_READ);
    expect(&s, 1);
}

static void equal_conflicts_of_instances_are_one(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    for (uint64_t at = 0x4000; at < 0x4800; at += 0x100) {
        stream_op(&s, 1, DH_EVENT_ALLOC, at, 64, DH_MEMORY_HEAP, DH_NO_PLACE);
        two_objects_with_a_lock_each(&s, at);
    }
    expect(&s, 1);
}

/* The same address, another object and another lock: no thread sees both. */
static void a_new_object_at_the_old_address_is_another(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    for (unsigned round = 0; round < 2; round++) {
        stream_op(&s, 1, DH_EVENT_ALLOC, OBJECT, 64, DH_MEMORY_HEAP, DH_NO_PLACE);
        stream_op(&s, 1, DH_EVENT_LOCK_INIT, LOCK, 0, 0, DH_NO_PLACE);
        if (round)
            section(&s, 2, LOCK, "ab");
        else {
            section(&s, 1, LOCK, "A");
            section(&s, 1, LOCK, "B");
        }
        stream_op(&s, 1, DH_EVENT_LOCK_DESTROY, LOCK, 0, 0, DH_NO_PLACE);
        stream_op(&s, 1, DH_EVENT_FREE, OBJECT, 64, DH_MEMORY_HEAP, DH_NO_PLACE);
    }
    expect(&s, 0);
}

static void a_copy_of_the_whole_has_both(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    section(&s, 1, LOCK, "X");
    section(&s, 1, LOCK, "Y");
    take(&s, 2, LOCK, "snapshot");
    stream_op(&s, 2, DH_EVENT_READ, field_at('x'), 16, 0, stream_place(&s, "snapshot", "struct coord"));
    give(&s, 2, LOCK);
    expect(&s, 1);
}

/* One caller needs the temperature only, another one the battery: the code has both. */
static void what_was_optimised_away_is_of_the_set(void **state)
{
    static const char *const fields[] = {"struct status.x", "struct status.battery", "struct status.temperature"};
    const char *const all[] = {fields[0], fields[1], fields[2], NULL};
    const char *const pose[] = {fields[0], NULL}, *const power[] = {fields[1], fields[2], NULL};
    const char *const *may[64] = {0};
    struct stream s;
    (void)state;
    begin(&s, 2);
    may[stream_place(&s, "read status", "lock")] = all;
    may[stream_place(&s, "report pose", "lock")] = pose;
    may[stream_place(&s, "report power", "lock")] = power;
    s.may = may;
    s.n_may = 64;
    for (unsigned i = 1; i <= 2; i++) {
        take(&s, 1, LOCK, "read status");
        write_to(&s, 1, DH_EVENT_READ, OBJECT, fields[0]);
        write_to(&s, 1, DH_EVENT_READ, OBJECT + 8 * i, fields[i]);
        give(&s, 1, LOCK);
    }
    take(&s, 2, LOCK, "report pose");
    write_to(&s, 2, DH_EVENT_WRITE, OBJECT, fields[0]);
    give(&s, 2, LOCK);
    take(&s, 2, LOCK, "report power");
    write_to(&s, 2, DH_EVENT_WRITE, OBJECT + 8, fields[1]);
    write_to(&s, 2, DH_EVENT_WRITE, OBJECT + 16, fields[2]);
    give(&s, 2, LOCK);
    expect(&s, 1);
}

static void reentering_a_lock_begins_nothing(void **state)
{
    struct stream s;
    (void)state;
    begin(&s, 2);
    take(&s, 1, LOCK, "outer");
    section(&s, 1, LOCK, "X");
    section(&s, 1, LOCK, "Y");
    give(&s, 1, LOCK);
    section(&s, 2, LOCK, "xy");
    expect(&s, 0);
}

/* ---- random traces ---- */

enum { THREADS = 3, LOCKS = 2, FIELDS = 6, CODES = 12, OPS = 150, TRACES = 6000, MOST = 200 };

struct naive_section {
    int thread, lock, code, outer; /* outer: the other lock, held from before until after, or -1 */
    bool reads[FIELDS], writes[FIELDS];
    uint32_t clock[THREADS];
    int nth; /* of equal ones of this thread and code, from 1 */
};

struct naive {
    struct naive_section all[MOST];
    int n;
    uint32_t clock[THREADS][THREADS], semaphore[THREADS];
    bool names[LOCKS * CODES][FIELDS];
};

static unsigned seed;

static unsigned below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static bool has(const struct naive_section *s, int f)
{
    return s->reads[f] || s->writes[f];
}

/* The same section, at whatever time. */
static bool equal(const struct naive_section *a, const struct naive_section *b)
{
    return a->thread == b->thread && a->lock == b->lock && a->code == b->code && a->outer == b->outer &&
           memcmp(a->reads, b->reads, sizeof a->reads) == 0 && memcmp(a->writes, b->writes, sizeof a->writes) == 0;
}

static void naive_close(struct naive *n, struct naive_section *s)
{
    bool any = false;
    s->nth = 1;
    for (int i = 0; i < n->n; i++)
        s->nth += equal(&n->all[i], s);
    memcpy(s->clock, n->clock[s->thread], sizeof s->clock);
    for (int f = 0; f < FIELDS; f++) {
        any = any || has(s, f);
        n->names[s->lock * CODES + s->code][f] |= has(s, f);
    }
    if (any && n->n < MOST)
        n->all[n->n++] = *s;
}

static bool before(const struct naive_section *a, const struct naive_section *b)
{
    return a->clock[a->thread] <= b->clock[a->thread];
}

/* x is in the way of S in A, and B has nothing to do with it. */
static bool apart(const struct naive *n, const struct naive_section *s, const struct naive_section *a,
                  const struct naive_section *b, int x)
{
    return has(a, x) && has(s, x) && (a->writes[x] || s->writes[x]) && !n->names[b->lock * CODES + b->code][x];
}

static bool conflict(const struct naive *n, const struct naive_section *s, const struct naive_section *a,
                     const struct naive_section *b)
{
    bool fields = false;
    for (int x = 0; x < FIELDS; x++)
        for (int y = 0; y < FIELDS; y++)
            fields = fields || (x / 3 == y / 3 && apart(n, s, a, b, x) && apart(n, s, b, a, y));
    bool outer = s->outer >= 0 && s->outer == a->outer && s->outer == b->outer;
    bool sampled = (s->nth & (s->nth - 1)) == 0;
    return fields && !outer && sampled && s->thread != a->thread && a->thread == b->thread && s->lock == a->lock &&
           a->lock == b->lock && !before(s, a) && !before(b, s);
}

static unsigned clash_mask(const struct naive_section *s, const struct naive_section *a)
{
    unsigned mask = 0;
    for (int f = 0; f < FIELDS; f++)
        if (has(s, f) && has(a, f) && (s->writes[f] || a->writes[f]))
            mask |= 1u << f;
    return mask;
}

/* Of S against one thread: the fields of every pair that is in conflict with it at any time. */
static unsigned naive_mask(const struct naive *n, const struct naive_section *s, int thread)
{
    unsigned mask = 0;
    for (int k = 0; k < n->n; k++)
        for (int i = 0; equal(&n->all[k], s) && i < n->n; i++)
            for (int j = 0; n->all[i].thread == thread && j < n->n; j++)
                if (conflict(n, &n->all[k], &n->all[i], &n->all[j]))
                    mask |= clash_mask(s, &n->all[i]) | clash_mask(s, &n->all[j]);
    return mask;
}

struct open_section {
    bool open;
    struct naive_section s;
    bool outer_held;
};

struct run {
    struct stream s;
    struct naive n;
    struct open_section open[THREADS][LOCKS];
    int owner[LOCKS];
};

static const char *const field_names[FIELDS] = {"a", "b", "c", "d", "e", "f"};

static uint64_t lock_at(int l)
{
    return LOCK + 0x100u * (unsigned)l;
}

static uint64_t random_field_at(int f)
{
    return OBJECT + 0x1000u * (unsigned)(f / 3) + 4u * (unsigned)(f % 3);
}

static void run_take(struct run *r, int t, int l)
{
    if (r->owner[l] >= 0)
        return;
    int code = (int)below(CODES), other = 1 - l;
    char name[32];
    snprintf(name, sizeof name, "section %d", code * LOCKS + l);
    take(&r->s, (unsigned)t, lock_at(l), name);
    r->owner[l] = t;
    r->open[t][l] = (struct open_section){.open = true, .outer_held = r->owner[other] == t};
    r->open[t][l].s = (struct naive_section){.thread = t, .lock = l, .code = code, .outer = -1};
}

static void run_give(struct run *r, int t, int l)
{
    if (r->owner[l] != t)
        return;
    give(&r->s, (unsigned)t, lock_at(l));
    r->open[t][l].s.outer = r->open[t][l].outer_held ? 1 - l : -1;
    naive_close(&r->n, &r->open[t][l].s);
    r->open[t][l].open = false;
    r->open[t][1 - l].outer_held = false;
    r->owner[l] = -1;
}

static void run_access(struct run *r, int t)
{
    int f = (int)below(FIELDS);
    bool write = below(2);
    stream_op(&r->s, (unsigned)t, write ? DH_EVENT_WRITE : DH_EVENT_READ, random_field_at(f), 4, 0,
              stream_place(&r->s, write ? "w" : "r", field_names[f]));
    for (int l = 0; l < LOCKS; l++)
        if (r->open[t][l].open)
            (write ? r->open[t][l].s.writes : r->open[t][l].s.reads)[f] = true;
}

static void run_post(struct run *r, int t)
{
    stream_op(&r->s, (unsigned)t, DH_EVENT_RELEASE_JOIN, 0x900, DH_SYNC_SEMAPHORE, 0, DH_NO_PLACE);
    for (int u = 0; u < THREADS; u++)
        if (r->n.clock[t][u] > r->n.semaphore[u])
            r->n.semaphore[u] = r->n.clock[t][u];
    r->n.clock[t][t]++;
}

static void run_wait(struct run *r, int t)
{
    stream_op(&r->s, (unsigned)t, DH_EVENT_ACQUIRE, 0x900, DH_SYNC_SEMAPHORE, 0, DH_NO_PLACE);
    for (int u = 0; u < THREADS; u++)
        if (r->n.semaphore[u] > r->n.clock[t][u])
            r->n.clock[t][u] = r->n.semaphore[u];
}

static void run_trace(struct run *r)
{
    memset(r, 0, sizeof *r);
    stream_begin(&r->s, &dh_detector_views);
    for (int l = 0; l < LOCKS; l++)
        r->owner[l] = -1;
    for (unsigned o = 0; o < FIELDS / 3; o++)
        stream_op(&r->s, 0, DH_EVENT_ALLOC, OBJECT + 0x1000 * o, 64, DH_MEMORY_HEAP, DH_NO_PLACE);
    start_threads(&r->s, THREADS - 1);
    for (int t = 0; t < THREADS; t++)
        r->n.clock[t][t] = 1;
    for (int t = 1; t < THREADS; t++)
        r->n.clock[0][0] = (uint32_t)t + 1;
    for (int t = 1; t < THREADS; t++)
        r->n.clock[t][0] = (uint32_t)t;
    for (int i = 0; i < OPS; i++) {
        int t = (int)below(THREADS), l = (int)below(LOCKS);
        switch (below(12)) {
        case 0:
        case 1:
        case 2:
            run_take(r, t, l);
            break;
        case 3:
        case 4:
        case 5:
            run_give(r, t, l);
            break;
        case 6:
            if (below(8) == 0)
                run_post(r, t);
            break;
        case 7:
            if (below(8) == 0)
                run_wait(r, t);
            break;
        default:
            run_access(r, t);
            break;
        }
    }
    for (int l = 0; l < LOCKS; l++)
        if (r->owner[l] >= 0)
            run_give(r, r->owner[l], l);
    stream_finish(&r->s);
}

static unsigned mask_of_key(const char *key)
{
    unsigned mask = 0;
    for (key = strchr(key, ':'); key && *key; key++)
        if (*key >= 'a' && *key <= 'f')
            mask |= 1u << (*key - 'a');
    return mask;
}

/* Every set that is told is one of the definition's, and each of the definition's is in one that is told. */
static void compare(const struct run *r, unsigned trace, unsigned *conflicts)
{
    bool of_definition[1 << FIELDS] = {0}, told[1 << FIELDS] = {0};
    for (int i = 0; i < r->n.n; i++)
        for (int t = 0; t < THREADS; t++)
            of_definition[naive_mask(&r->n, &r->n.all[i], t)] = true;
    for (size_t i = 0; i < r->s.found.n; i++) {
        unsigned mask = mask_of_key(r->s.found.at[i].key);
        told[mask] = true;
        if (!of_definition[mask])
            fail_msg("trace %u: %s is told and is none", trace, r->s.found.at[i].key);
    }
    for (unsigned mask = 1; mask < 1 << FIELDS; mask++) {
        bool covered = !of_definition[mask];
        for (unsigned m = 1; !covered && m < 1 << FIELDS; m++)
            covered = told[m] && (mask & ~m) == 0;
        if (!covered)
            fail_msg("trace %u: the conflict of fields %#x is not told", trace, mask);
        *conflicts += of_definition[mask];
    }
}

static void random_traces_against_the_definition(void **state)
{
    static struct run r;
    unsigned conflicts = 0;
    (void)state;
    for (unsigned trace = 0; trace < TRACES; trace++) {
        seed = trace * 2654435761u + 1;
        run_trace(&r);
        compare(&r, trace, &conflicts);
        stream_release(&r.s);
    }
    /* Traces that never show one would prove nothing. */
    assert_true(conflicts > TRACES / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_of_the_paper),
        cmocka_unit_test(what_is_only_read_is_silent),
        cmocka_unit_test(a_reader_of_both_sees_half_an_update),
        cmocka_unit_test(a_writer_of_both_comes_between_two_reads),
        cmocka_unit_test(an_outer_lock_around_all_is_judged_itself),
        cmocka_unit_test(an_outer_lock_of_one_protects_nothing),
        cmocka_unit_test(the_elevator_may_have_taken_the_branch),
        cmocka_unit_test(without_the_other_path_it_is_a_conflict),
        cmocka_unit_test(the_same_code_did_take_the_branch_once),
        cmocka_unit_test(a_wait_belongs_to_the_section),
        cmocka_unit_test(a_section_with_a_wait_holds_nothing_together),
        cmocka_unit_test(before_the_threads_are_there_it_is_initialisation),
        cmocka_unit_test(after_the_join_nobody_comes_between),
        cmocka_unit_test(elements_of_an_array_are_one_variable),
        cmocka_unit_test(a_table_may_be_read_by_fields),
        cmocka_unit_test(elements_may_be_reached_by_pointer),
        cmocka_unit_test(two_names_for_one_field),
        cmocka_unit_test(equal_conflicts_of_instances_are_one),
        cmocka_unit_test(a_new_object_at_the_old_address_is_another),
        cmocka_unit_test(a_copy_of_the_whole_has_both),
        cmocka_unit_test(what_was_optimised_away_is_of_the_set),
        cmocka_unit_test(reentering_a_lock_begins_nothing),
        cmocka_unit_test(random_traces_against_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
