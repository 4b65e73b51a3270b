/* What a detector says of a stream becomes a finding: places, locks, object and threads by name; told once; higher
 * levels again; what is logged reads as what was told. */
#include "base/str.h"
#include "event/finding_log.h"
#include "finding/suspicion_collector.h"
#include "host/file.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { ACCOUNT = 0x1000, LOCK_A = 0x1040, LOCK_B = 0x1080 };
enum { WRITES, READS, TAKES_A, TAKES_B, TAKES_A_LATE, PLACES };

/* bank.c as a trace explains it. */
static const struct {
    const char *function, *variable, *type, *name;
    unsigned line;
    uint8_t op;
} rows[PLACES] = {
    [WRITES] = {"teller", "struct account.balance", "int", "bank.c:teller:struct account.balance:W#1", 20, DH_OP_WRITE},
    [READS] = {"audit", "struct account.balance", "int", "bank.c:audit:struct account.balance:R#1", 31, DH_OP_READ},
    [TAKES_A] = {"teller", "lock_a", "", "bank.c:teller:lock_a:lock#1", 19, DH_OP_LOCK},
    [TAKES_B] = {"teller", "lock_b", "", "bank.c:teller:lock_b:lock#1", 22, DH_OP_LOCK},
    [TAKES_A_LATE] = {"audit", "lock_a", "", "bank.c:audit:lock_a:lock#1", 33, DH_OP_LOCK},
};

static struct dh_site_builder *builder;
static struct dh_site_table table;

static const struct dh_site *site_of(void *arg, uint32_t place, const struct dh_site_table **t)
{
    (void)arg;
    *t = &table;
    return place < table.n_sites ? &table.sites[place] : NULL;
}

/* As a trace names what its places do not. */
static char *name_of(void *arg, uint64_t addr)
{
    (void)arg;
    return dh_strdup(addr == LOCK_B ? "the_back_door" : "");
}

static int make_table(void **state)
{
    (void)state;
    builder = dh_site_builder_new();
    for (unsigned i = 0; i < PLACES; i++) {
        struct dh_site s = {.file = dh_site_builder_string(builder, "bank.c"),
                            .function = dh_site_builder_string(builder, rows[i].function),
                            .variable = dh_site_builder_string(builder, rows[i].variable),
                            .type = dh_site_builder_string(builder, rows[i].type),
                            .name = dh_site_builder_string(builder, rows[i].name),
                            .line = rows[i].line,
                            .column = 5,
                            .op = rows[i].op,
                            .inlined = DH_NO_CHAIN};
        dh_site_builder_add(builder, &s);
    }
    table = dh_site_builder_view(builder);
    return 0;
}

static int free_table(void **state)
{
    (void)state;
    dh_site_builder_free(builder);
    return 0;
}

/* ---- a stream with one world ---- */

struct scene {
    struct dh_meta meta;
    struct dh_suspicion_collector *suspicions;
    struct dh_run_state *world;
    unsigned told;
    bool suppress;
    struct dh_finding last; /* borrowed fields are copied */
};

static bool hear(void *arg, const struct dh_finding *f)
{
    struct scene *s = arg;
    s->told++;
    dh_finding_release(&s->last);
    dh_finding_init(&s->last);
    dh_finding_set(&s->last.id, f->id);
    s->last.level = f->level;
    return !s->suppress;
}

/* Calls back with the whole finding while it lives. */
static void (*look_at)(const struct dh_finding *f);

static bool hear_and_look(void *arg, const struct dh_finding *f)
{
    if (look_at)
        look_at(f);
    return hear(arg, f);
}

static void begin(struct scene *s)
{
    struct dh_finding_sink sink = {hear_and_look, s};
    struct dh_run_host words = {.site = site_of}, host = {0};
    *s = (struct scene){0};
    dh_finding_init(&s->last);
    dh_vec_push(&s->meta.threads, ((struct dh_meta_thread){UINT32_MAX, 0, dh_strdup("bank")}));
    dh_vec_push(&s->meta.threads, ((struct dh_meta_thread){0, 0, dh_strdup("teller")}));
    s->suspicions = dh_suspicion_collector_new(&s->meta, &sink);
    dh_suspicion_collector_set_sites(s->suspicions, &words);
    dh_suspicion_collector_set_namer(s->suspicions, name_of, NULL);
    dh_suspicion_collector_fill_host(s->suspicions, &host);
    s->world = dh_run_state_new(&host);
    dh_suspicion_collector_set_world(s->suspicions, s->world);
}

static void end(struct scene *s)
{
    dh_run_state_free(s->world);
    dh_suspicion_collector_free(s->suspicions);
    for (size_t i = 0; i < s->meta.threads.n; i++)
        free(s->meta.threads.at[i].name);
    dh_vec_release(&s->meta.threads);
    dh_finding_release(&s->last);
    look_at = NULL;
}

static void happens(struct scene *s, struct dh_event e)
{
    dh_run_state_before(s->world, &e);
    dh_run_state_after(s->world, &e);
}

static const struct dh_detector lockset = {.name = "lockset"}, race = {.name = "race"}, deadlock = {.name = "deadlock"};

static void suspect_race(struct scene *s, const struct dh_detector *who, enum dh_finding_level level)
{
    const struct dh_lock_hold held = {.lock = LOCK_A, .site = TAKES_A, .depth = 1};
    const struct dh_suspect both[] = {
        {.op = DH_OP_WRITE, .thread = 1, .site = WRITES, .addr = ACCOUNT + 8, .size = 4, .locks = &held, .n_locks = 1},
        {.op = DH_OP_READ, .thread = 0, .site = READS, .addr = ACCOUNT + 8, .size = 4, .note = "the audit"},
    };
    dh_run_report(s->world, who,
                  &(struct dh_suspicion){.kind = DH_FINDING_RACE,
                                         .level = level,
                                         .addr = ACCOUNT + 8,
                                         .size = 4,
                                         .suspects = both,
                                         .n_suspects = 2,
                                         .text = "no lock is held at both accesses"});
}

/* ---- stories ---- */

static void check_race(const struct dh_finding *f)
{
    const struct dh_finding_access *a = &f->accesses.at[0], *b = &f->accesses.at[1];
    assert_int_equal(f->kind, DH_FINDING_RACE);
    assert_int_equal(f->level, DH_LEVEL_SUSPECTED);
    assert_string_equal(f->detector, "lockset");
    assert_string_equal(f->variable, "struct account.balance");
    assert_string_equal(f->type, "int");
    assert_string_equal(f->text, "no lock is held at both accesses");
    assert_string_equal(f->object, "heap block of 64 bytes, at offset 8");
    assert_int_equal(f->accesses.n, 2);
    assert_string_equal(a->op, "write");
    assert_int_equal(a->size, 4);
    assert_string_equal(a->site, "bank.c:teller:struct account.balance:W#1");
    assert_string_equal(a->stack.frames.at[0].file, "bank.c");
    assert_int_equal(a->stack.frames.at[0].line, 20);
    assert_int_equal(a->locks.n, 1);
    assert_string_equal(a->locks.at[0].name, "lock_a");
    assert_int_equal(a->locks.at[0].taken.frames.at[0].line, 19);
    assert_string_equal(b->op, "read");
    assert_string_equal(b->note, "the audit");
    assert_int_equal(b->locks.n, 0);
    assert_string_equal(dh_finding_thread(f, 1)->name, "teller");
    assert_int_equal(dh_finding_thread(f, 1)->parent, 0);
}

/* Told when the block is gone and another one has its address. */
static void check_first_block(const struct dh_finding *f)
{
    assert_string_equal(f->object, "heap block of 64 bytes, at offset 8");
}

static void what_is_told_late_names_what_was_there(void **state)
{
    struct scene s;
    (void)state;
    begin(&s);
    happens(&s, (struct dh_event){.kind = DH_EVENT_ALLOC, .addr = ACCOUNT, .arg = 64, .site = DH_NO_PLACE});
    const struct dh_suspect one = {.op = DH_OP_WRITE, .thread = 1, .site = WRITES, .addr = ACCOUNT + 8, .size = 4};
    struct dh_suspicion late = {.kind = DH_FINDING_ATOMICITY,
                                .addr = ACCOUNT + 8,
                                .size = 4,
                                .object = dh_run_find_object(s.world, ACCOUNT + 8)->number,
                                .suspects = &one,
                                .n_suspects = 1};
    happens(&s, (struct dh_event){.kind = DH_EVENT_FREE, .addr = ACCOUNT, .arg = 64, .site = DH_NO_PLACE});
    happens(&s, (struct dh_event){.kind = DH_EVENT_ALLOC, .addr = ACCOUNT, .arg = 4096, .site = DH_NO_PLACE});
    look_at = check_first_block;
    dh_run_report(s.world, &lockset, &late);
    assert_int_equal(s.told, 1);
    end(&s);
}

static void a_suspicion_has_names(void **state)
{
    struct scene s;
    (void)state;
    begin(&s);
    happens(&s, (struct dh_event){.kind = DH_EVENT_ALLOC, .addr = ACCOUNT, .arg = 64, .site = DH_NO_PLACE});
    look_at = check_race;
    suspect_race(&s, &lockset, DH_LEVEL_SUSPECTED);
    assert_int_equal(s.told, 1);
    assert_int_equal(dh_suspicion_collector_count(s.suspicions), 1);
    end(&s);
}

static void check_deadlock(const struct dh_finding *f)
{
    assert_int_equal(f->kind, DH_FINDING_DEADLOCK);
    assert_string_equal(f->variable, "the_back_door, lock_a");
    assert_string_equal(f->accesses.at[0].op, "lock");
    assert_string_equal(f->accesses.at[0].object, "the_back_door");
    assert_string_equal(f->accesses.at[0].locks.at[0].name, "lock_a");
    assert_string_equal(f->accesses.at[1].object, "lock_a");
    assert_string_equal(f->accesses.at[1].locks.at[0].name, "the_back_door");
    assert_string_equal(f->accesses.at[2].op, "thread join");
    assert_string_equal(f->accesses.at[2].object, "thread T1 'teller'");
}

static void locks_and_joins_are_deeds(void **state)
{
    const struct dh_lock_hold a = {.lock = LOCK_A, .site = TAKES_A, .depth = 1};
    const struct dh_lock_hold b = {.lock = LOCK_B, .site = DH_NO_PLACE, .depth = 1};
    const struct dh_suspect all[] = {
        {.op = DH_OP_LOCK, .thread = 1, .site = TAKES_B, .addr = LOCK_B, .locks = &a, .n_locks = 1},
        {.op = DH_OP_LOCK, .thread = 0, .site = TAKES_A_LATE, .addr = LOCK_A, .locks = &b, .n_locks = 1},
        {.op = DH_OP_THREAD_JOIN, .thread = 0, .site = DH_NO_PLACE, .addr = 1},
    };
    struct scene s;
    (void)state;
    begin(&s);
    look_at = check_deadlock;
    dh_run_report(
        s.world, &deadlock,
        &(struct dh_suspicion){.kind = DH_FINDING_DEADLOCK, .addr = LOCK_B, .suspects = all, .n_suspects = 3});
    assert_int_equal(s.told, 1);
    end(&s);
}

static void equal_ones_are_told_once_and_rise(void **state)
{
    struct scene s;
    char id[20];
    (void)state;
    begin(&s);
    suspect_race(&s, &lockset, DH_LEVEL_SUSPECTED);
    suspect_race(&s, &lockset, DH_LEVEL_SUSPECTED);
    assert_int_equal(s.told, 1);
    snprintf(id, sizeof id, "%s", s.last.id);
    suspect_race(&s, &race, DH_LEVEL_OBSERVED);
    assert_int_equal(s.told, 2);
    assert_int_equal(s.last.level, DH_LEVEL_OBSERVED);
    assert_string_equal(s.last.id, id);
    suspect_race(&s, &race, DH_LEVEL_SUSPECTED);
    assert_int_equal(s.told, 2);
    assert_int_equal(dh_suspicion_collector_count(s.suspicions), 1);
    end(&s);
}

static void what_is_kept_quiet_does_not_count(void **state)
{
    struct scene s;
    (void)state;
    begin(&s);
    s.suppress = true;
    suspect_race(&s, &lockset, DH_LEVEL_SUSPECTED);
    assert_int_equal(s.told, 1);
    assert_int_equal(dh_suspicion_collector_count(s.suspicions), 0);
    end(&s);
}

/* Numbers that no module, context or thread has, as a damaged trace brings them. */
static void numbers_out_of_range_are_no_crash(void **state)
{
    const struct dh_lock_hold held = {.lock = 1, .site = 0xfffffffe, .ctx = 0x7fffffff};
    struct scene s;
    (void)state;
    begin(&s);
    dh_vec_push(&s.meta.contexts, ((struct dh_meta_context){0, 0}));
    dh_vec_push(&s.meta.contexts, ((struct dh_meta_context){1, 0x10})); /* its own parent */
    struct dh_suspect many[DH_SUSPECTS + 2];
    for (size_t i = 0; i < DH_SUSPECTS + 2; i++)
        many[i] = (struct dh_suspect){.op = (uint8_t)(200 + i),
                                      .thread = 0xfffffff0,
                                      .site = 77 + (uint32_t)i,
                                      .ctx = (uint32_t)i % 2 ? 1 : 99,
                                      .addr = UINT64_MAX,
                                      .size = UINT64_MAX,
                                      .locks = &held,
                                      .n_locks = 1};
    dh_run_report(s.world, &race,
                  &(struct dh_suspicion){.kind = 99, .suspects = many, .n_suspects = DH_SUSPECTS + 2, .addr = 5});
    assert_int_equal(s.told, 1);
    dh_vec_release(&s.meta.contexts);
    end(&s);
}

static unsigned findings_in(const char *path, char *detector, size_t n)
{
    struct dh_bytes bytes;
    struct dh_err err = {0};
    struct dh_log_reader r;
    struct dh_log_record record;
    const char *why;
    unsigned found = 0;
    assert_true(dh_file_read(path, &bytes, &err));
    assert_true(dh_log_open(&r, bytes.at, bytes.n, &why));
    while (dh_log_next(&r, &record)) {
        struct dh_log_memory m = {0};
        struct dh_log_finding f;
        if (dh_log_read_finding(&record, &f, &m)) {
            found++;
            assert_int_equal(f.n_accesses, 2);
            snprintf(detector, n, "%s", f.detector);
        }
        dh_log_memory_release(&m);
    }
    assert_int_equal(r.damaged, 0);
    dh_bytes_release(&bytes);
    return found;
}

static void the_log_has_what_was_told(void **state)
{
    struct scene s;
    struct dh_err err = {0};
    char detector[16];
    char *folder = dh_temp_folder(&err), *path = dh_format("%s/log.1.dhf", folder);
    (void)state;
    begin(&s);
    assert_true(dh_suspicion_collector_open_log(s.suspicions, path, &err));
    suspect_race(&s, &lockset, DH_LEVEL_SUSPECTED);
    suspect_race(&s, &lockset, DH_LEVEL_SUSPECTED);
    assert_int_equal(findings_in(path, detector, sizeof detector), 1);
    assert_string_equal(detector, "lockset");
    suspect_race(&s, &race, DH_LEVEL_OBSERVED);
    assert_int_equal(findings_in(path, detector, sizeof detector), 2);
    assert_string_equal(detector, "race");
    end(&s);
    dh_remove_tree(folder);
    free(folder);
    free(path);
}

/* A full disk: the finding is reported, and counted as lost. */
static void what_the_log_cannot_hold_is_lost(void **state)
{
    struct scene s;
    struct dh_err err = {0};
    char *folder = dh_temp_folder(&err), *path = dh_format("%s/log.1.dhf", folder);
    struct rlimit before, tiny;
    (void)state;
    begin(&s);
    assert_true(dh_suspicion_collector_open_log(s.suspicions, path, &err));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    tiny = (struct rlimit){DH_LOG_HEADER_SIZE, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    suspect_race(&s, &lockset, DH_LEVEL_SUSPECTED);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(dh_suspicion_collector_count(s.suspicions), 1);
    assert_int_equal(dh_suspicion_collector_lost(s.suspicions), 1);
    end(&s);
    dh_remove_tree(folder);
    free(folder);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_late_names_what_was_there),
        cmocka_unit_test(a_suspicion_has_names),
        cmocka_unit_test(locks_and_joins_are_deeds),
        cmocka_unit_test(equal_ones_are_told_once_and_rise),
        cmocka_unit_test(what_is_kept_quiet_does_not_count),
        cmocka_unit_test(numbers_out_of_range_are_no_crash),
        cmocka_unit_test(the_log_has_what_was_told),
        cmocka_unit_test(what_the_log_cannot_hold_is_lost),
    };
    return cmocka_run_group_tests(tests, make_table, free_table);
}
