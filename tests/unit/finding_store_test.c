/* Findings and their store: ids survive edits, details are read as written, two writers and a killed one lose nothing,
 * a full disk is one message and takes nothing with it. */
#include "base/str.h"
#include "finding/details.h"
#include "finding/store.h"
#include "finding/value_text.h"
#include "host/file.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *folder, *db;

static int make_folder(void **state)
{
    struct dh_err err = {0};
    (void)state;
    folder = dh_temp_folder(&err);
    db = dh_format("%s/deep/er/findings.db", folder);
    return folder ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    dh_remove_tree(folder);
    free(folder);
    free(db);
    return 0;
}

static void add_access(struct dh_finding *f, const char *site, const char *op, unsigned line)
{
    struct dh_finding_access a;
    dh_finding_access_init(&a);
    dh_finding_set(&a.op, op);
    dh_finding_set(&a.site, site);
    dh_finding_set(&a.variable, "x");
    dh_finding_set(&a.type, "int");
    dh_finding_set(&a.value, "5");
    a.size = 4;
    a.thread = line % 3;
    struct dh_finding_frame frame = {dh_strdup("teller"), dh_strdup("bank.c"), line, 7, dh_strdup("/bin/bank"), 0x10};
    struct dh_finding_lock lock = {.name = dh_strdup("m"), .shared = true};
    dh_vec_push(&a.stack.frames, frame);
    dh_vec_push(&a.locks, lock);
    dh_vec_push(&f->accesses, a);
}

static void make(struct dh_finding *f, const char *one, unsigned line, const char *two, unsigned other)
{
    dh_finding_init(f);
    f->kind = DH_FINDING_RACE;
    dh_finding_set(&f->detector, "race");
    f->level = DH_LEVEL_OBSERVED;
    f->verdict = DH_VERDICT_NONE;
    f->healing = DH_HEALING_NONE;
    dh_finding_set(&f->variable, "x");
    dh_finding_set(&f->build, "b1");
    f->first_seen = f->last_seen = 1000;
    add_access(f, one, "write", line);
    add_access(f, two, "read", other);
    dh_finding_fingerprint(f);
}

static void ids_do_not_depend_on_lines_or_order(void **state)
{
    struct dh_finding a, b, c;
    (void)state;
    make(&a, "bank.c:teller:x:W#1", 10, "bank.c:audit:x:R#1", 20);
    make(&b, "bank.c:audit:x:R#1", 25, "bank.c:teller:x:W#1", 11);
    make(&c, "bank.c:teller:x:W#2", 10, "bank.c:audit:x:R#1", 20);
    assert_int_equal(strlen(a.id), 16);
    assert_string_equal(a.id, b.id);
    assert_string_not_equal(a.id, c.id);
    b.kind = DH_FINDING_USE_AFTER_FREE;
    dh_finding_fingerprint(&b);
    assert_string_not_equal(a.id, b.id);
    dh_finding_release(&a);
    dh_finding_release(&b);
    dh_finding_release(&c);
}

static void details_are_read_as_written(void **state)
{
    struct dh_finding f, g;
    (void)state;
    make(&f, "s1", 10, "s2", 20);
    dh_finding_set(&f.object, "global 'x' \"quoted\" \xff");
    struct dh_finding_thread t = {.index = 3, .parent = 0, .name = dh_strdup("worker"), .state = dh_strdup("running")};
    dh_vec_push(&f.threads, t);
    char *text = dh_details_write(&f);
    assert_true(dh_details_read(text, &g));
    assert_string_equal(g.object, "global 'x' \"quoted\" ?");
    assert_int_equal(g.accesses.n, 2);
    assert_string_equal(g.accesses.at[1].site, "s2");
    assert_int_equal(g.accesses.at[1].stack.frames.at[0].line, 20);
    assert_string_equal(g.accesses.at[0].locks.at[0].name, "m");
    assert_true(g.accesses.at[0].locks.at[0].shared);
    assert_string_equal(g.threads.at[0].name, "worker");
    assert_int_equal(g.threads.at[0].index, 3);
    dh_finding_release(&g);
    assert_false(dh_details_read("[1,2", &g));
    dh_finding_release(&g);
    free(text);
    dh_finding_release(&f);
}

static struct dh_store *open_store(void)
{
    struct dh_err err = {0};
    struct dh_store *s = dh_store_open(db, DH_STORE_WRITE, &err);
    if (!s)
        fprintf(stderr, "%s\n", err.text);
    dh_err_release(&err);
    return s;
}

/* A run with the findings first..first+n-1. */
static bool store_run(struct dh_store *s, unsigned first, unsigned n, struct dh_err *err)
{
    struct dh_store_run run = {"/bin/bank", "1 2", 1000};
    long long id;
    bool ok = dh_store_begin(s, &run, &id, err);
    for (unsigned i = first; ok && i < first + n; i++) {
        struct dh_finding f;
        char *site = dh_format("bank.c:f%u:x:W#1", i);
        make(&f, site, i, "bank.c:main:x:R#1", 1);
        ok = dh_store_add(s, id, &f, err);
        dh_finding_release(&f);
        free(site);
    }
    return ok && dh_store_commit(s, err);
}

struct seen {
    unsigned n;
    long long runs;
    char level[16], detector[16], text[32];
};

static void see(void *arg, const struct dh_finding *f)
{
    struct seen *s = arg;
    s->n++;
    s->runs += f->runs;
    snprintf(s->level, sizeof s->level, "%s", dh_finding_level_name(f->level));
    snprintf(s->detector, sizeof s->detector, "%s", f->detector);
    snprintf(s->text, sizeof s->text, "%s", f->text);
}

static struct seen look_for(const struct dh_store_choice *choice)
{
    struct dh_err err = {0};
    struct seen seen = {0};
    struct dh_store *s = dh_store_open(db, DH_STORE_READ, &err);
    assert_non_null(s);
    assert_true(dh_store_each(s, choice, see, &seen, &err));
    dh_store_close(s);
    return seen;
}

static struct seen look(const char *id)
{
    return look_for(&(struct dh_store_choice){.id = id});
}

static void equal_findings_of_two_runs_are_one(void **state)
{
    struct dh_err err = {0};
    struct dh_store *s = open_store();
    (void)state;
    assert_true(store_run(s, 0, 2, &err) && store_run(s, 1, 2, &err));
    dh_store_close(s);
    struct seen seen = look(NULL);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.runs, 4);
    assert_int_equal(look("zz").n, 0);
}

static void levels_rise_and_never_fall(void **state)
{
    static const char *const given[] = {"suspected", "proven", "observed"};
    struct dh_store_run run = {"p", "", 1};
    struct dh_err err = {0};
    struct dh_store *s = open_store();
    char id[20];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct dh_finding f;
        long long n;
        make(&f, "level", 1, "level", 1);
        f.level = dh_finding_level_parse(given[i]);
        snprintf(id, sizeof id, "%s", f.id);
        assert_true(dh_store_begin(s, &run, &n, &err) && dh_store_add(s, n, &f, &err) && dh_store_commit(s, &err));
        dh_finding_release(&f);
    }
    dh_store_close(s);
    assert_string_equal(look(id).level, "proven");
}

static void store_one(struct dh_finding *f)
{
    struct dh_store_run run = {"p", "", 1};
    struct dh_err err = {0};
    struct dh_store *s = open_store();
    long long n;
    assert_true(dh_store_begin(s, &run, &n, &err) && dh_store_add(s, n, f, &err) && dh_store_commit(s, &err));
    dh_store_close(s);
}

/* Lockset suspects what happens-before sees: one finding, which the second has raised; what was seen stays told. */
static void suspicion_and_sight_of_one_pair_are_one(void **state)
{
    static const struct {
        const char *detector, *level, *text;
    } told[] = {{"lockset", "suspected", "no common lock"},
                {"race", "observed", "unordered"},
                {"lockset", "suspected", "no common lock"}};
    static const char *const by[] = {"lockset", "race", "race"};
    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct dh_finding f;
        make(&f, "one pair", 1, "other", 1);
        dh_finding_set(&f.detector, told[i].detector);
        f.level = dh_finding_level_parse(told[i].level);
        dh_finding_set(&f.text, told[i].text);
        dh_finding_fingerprint(&f);
        store_one(&f);
        struct seen seen = look(f.id);
        assert_int_equal(seen.n, 1);
        assert_string_equal(seen.detector, by[i]);
        assert_string_equal(seen.level, told[i ? 1 : 0].level);
        assert_string_equal(seen.text, told[i ? 1 : 0].text);
        dh_finding_release(&f);
    }
}

/* Built again and run again within a second: the second build's places are shown. */
static void of_two_builds_in_one_second_the_later_is_shown(void **state)
{
    static const char *const builds[] = {"b9", "b1", "b5"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct dh_finding f;
        make(&f, "built again", 1, "built again", 1);
        dh_finding_set(&f.build, builds[i]);
        dh_finding_set(&f.text, builds[i]);
        store_one(&f);
        assert_string_equal(look(f.id).text, builds[i]);
        dh_finding_release(&f);
    }
}

static void keys_tell_findings_at_one_place_apart(void **state)
{
    struct dh_finding a, b;
    (void)state;
    make(&a, "s", 1, "t", 2);
    make(&b, "s", 1, "t", 2);
    dh_finding_set(&b.key, "struct point");
    dh_finding_fingerprint(&b);
    assert_string_not_equal(a.id, b.id);
    dh_finding_release(&a);
    dh_finding_release(&b);
}

/* Three threads in a cycle through one place, or two. */
static void cycles_through_the_same_places_are_one(void **state)
{
    struct dh_finding a, b;
    (void)state;
    make(&a, "s", 1, "s", 1);
    make(&b, "s", 1, "s", 1);
    add_access(&b, "s", "lock", 1);
    a.kind = DH_FINDING_DEADLOCK;
    b.kind = DH_FINDING_DEADLOCK;
    dh_finding_fingerprint(&a);
    dh_finding_fingerprint(&b);
    assert_string_equal(a.id, b.id);
    dh_finding_release(&a);
    dh_finding_release(&b);
}

static void choices_are_lists_of_words(void **state)
{
    struct dh_finding f;
    (void)state;
    make(&f, "chosen", 1, "chosen", 1);
    f.kind = DH_FINDING_CRITICAL_WAIT;
    f.level = DH_LEVEL_SUSPECTED;
    dh_finding_set(&f.detector, "deadlock");
    dh_finding_fingerprint(&f);
    store_one(&f);
    unsigned all = look(NULL).n;
    assert_int_equal(look_for(&(struct dh_store_choice){.kinds = "critical-wait"}).n, 1);
    assert_int_equal(look_for(&(struct dh_store_choice){.kinds = "race"}).n, all - 1);
    assert_int_equal(look_for(&(struct dh_store_choice){.kinds = "race,critical-wait"}).n, all);
    assert_int_equal(look_for(&(struct dh_store_choice){.kinds = "wait"}).n, 0);
    assert_int_equal(look_for(&(struct dh_store_choice){.levels = "suspected", .kinds = "race"}).n, 0);
    assert_int_equal(look_for(&(struct dh_store_choice){.detectors = "deadlock", .levels = "suspected"}).n, 1);
    dh_finding_release(&f);
}

static void what_was_not_committed_is_taken_back(void **state)
{
    struct dh_store_run run = {"p", "", 1};
    struct dh_err err = {0};
    struct dh_store *s = open_store();
    struct dh_finding f;
    long long n;
    (void)state;
    make(&f, "taken back", 1, "taken back", 1);
    assert_true(dh_store_begin(s, &run, &n, &err) && dh_store_add(s, n, &f, &err));
    dh_store_close(s);
    assert_int_equal(look(f.id).n, 0);
    dh_finding_release(&f);
}

enum { WRITERS = 4, RUNS = 12, EACH = 5 };

static void write_many(unsigned writer)
{
    for (unsigned i = 0; i < RUNS; i++) {
        struct dh_err err = {0};
        struct dh_store *s = open_store();
        if (!s || !store_run(s, 1000 + (writer * RUNS + i) * EACH, EACH, &err))
            _exit(1);
        dh_store_close(s);
    }
    _exit(0);
}

static void writers_at_the_same_time_lose_nothing(void **state)
{
    unsigned before = look(NULL).n;
    (void)state;
    for (unsigned i = 0; i < WRITERS; i++)
        if (fork() == 0)
            write_many(i);
    for (unsigned i = 0; i < WRITERS; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(look(NULL).n, before + WRITERS * RUNS * EACH);
}

/* Killed at any moment: what it had committed is there, the store is whole, the next writer goes on. */
static void killed_writer_leaves_whole_runs(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 12; round++) {
        unsigned before = look(NULL).n;
        pid_t pid = fork();
        if (pid == 0)
            for (unsigned i = 0;; i++) {
                struct dh_err err = {0};
                struct dh_store *s = open_store();
                store_run(s, 100000 + (round * 1000 + i) * EACH, EACH, &err);
                dh_store_close(s);
            }
        usleep(3000 + 2500 * round);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        assert_int_equal((look(NULL).n - before) % EACH, 0);
        struct dh_err err = {0};
        struct dh_store *s = open_store();
        assert_non_null(s);
        assert_true(store_run(s, 900000 + round, 1, &err));
        dh_store_close(s);
    }
}

static void full_disk_is_one_message(void **state)
{
    unsigned before = look(NULL).n;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct stat st;
        stat(db, &st);
        struct rlimit limit = {(rlim_t)st.st_size + 8192, (rlim_t)st.st_size + 8192};
        setrlimit(RLIMIT_FSIZE, &limit);
        struct dh_err err = {0};
        struct dh_store *s = open_store();
        bool stored = s && store_run(s, 2000000, 2000, &err);
        _exit(!stored && err.text && !strchr(err.text, '\n') ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(look(NULL).n, before);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void what_is_no_store_is_refused_in_one_line(void **state)
{
    char *path = dh_format("%s/other.db", folder);
    struct dh_err err = {0};
    (void)state;
    assert_null(dh_store_open(path, DH_STORE_READ, &err));
    assert_non_null(strstr(err.text, "No such file"));
    write_text(path, "this is no database, and long enough that nobody takes it for the beginning of one, by far.....");
    assert_null(dh_store_open(path, DH_STORE_WRITE, &err));
    assert_non_null(strstr(err.text, path));
    assert_null(dh_store_open(folder, DH_STORE_WRITE, &err));
    assert_non_null(strstr(err.text, folder));
    char *impossible = dh_format("%s/x/findings.db", path);
    assert_null(dh_store_open(impossible, DH_STORE_WRITE, &err));
    assert_null(strchr(err.text, '\n'));
    dh_err_release(&err);
    free(impossible);
    free(path);
}

/* One page after the other is overwritten: refused, or read without anything strange. */
static void damaged_pages_are_noticed(void **state)
{
    struct dh_bytes bytes;
    struct dh_err err = {0};
    char *path = dh_format("%s/damaged.db", folder);
    unsigned refused = 0;
    (void)state;
    assert_true(dh_file_read(db, &bytes, &err));
    for (size_t at = 0; at < bytes.n && at < 40 * 4096; at += 4096) {
        uint8_t *copy = malloc(bytes.n);
        struct seen seen = {0};
        memcpy(copy, bytes.at, bytes.n);
        memset(copy + at, 0x5a, 4096 < bytes.n - at ? 4096 : bytes.n - at);
        assert_true(dh_file_write(path, copy, bytes.n, 0600, &err));
        struct dh_store *s = dh_store_open(path, DH_STORE_READ, &err);
        if (!s || !dh_store_each(s, &(struct dh_store_choice){0}, see, &seen, &err)) {
            refused++;
            assert_non_null(err.text);
            assert_null(strchr(err.text, '\n'));
        }
        dh_store_close(s);
        free(copy);
    }
    assert_true(refused > 0);
    dh_err_release(&err);
    dh_bytes_release(&bytes);
    free(path);
}

static void values_read_as_their_type(void **state)
{
    static const uint8_t minus[8] = {0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        size_t n;
        const char *type, *text;
    } cases[] = {
        {4, "int", "-3"},         {4, "unsigned int", "4294967293"},          {1, "char", "-3"},
        {8, "long", "-3"},        {8, "struct node *", "0xfffffffffffffffd"}, {3, "int", "bytes fd ff ff"},
        {2, "uint16_t", "65533"}, {2, "char[2]", "\"\\xfd\\xff\""},           {1, "handle_t", "253 (0xfd)"},
    };
    const double half = 2.5;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = dh_value_text(minus, cases[i].n, cases[i].type);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
    char *text = dh_value_text((const uint8_t *)&half, sizeof half, "double");
    assert_string_equal(text, "2.5");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_do_not_depend_on_lines_or_order),
        cmocka_unit_test(details_are_read_as_written),
        cmocka_unit_test(equal_findings_of_two_runs_are_one),
        cmocka_unit_test(levels_rise_and_never_fall),
        cmocka_unit_test(suspicion_and_sight_of_one_pair_are_one),
        cmocka_unit_test(of_two_builds_in_one_second_the_later_is_shown),
        cmocka_unit_test(keys_tell_findings_at_one_place_apart),
        cmocka_unit_test(cycles_through_the_same_places_are_one),
        cmocka_unit_test(choices_are_lists_of_words),
        cmocka_unit_test(what_was_not_committed_is_taken_back),
        cmocka_unit_test(writers_at_the_same_time_lose_nothing),
        cmocka_unit_test(killed_writer_leaves_whole_runs),
        cmocka_unit_test(full_disk_is_one_message),
        cmocka_unit_test(what_is_no_store_is_refused_in_one_line),
        cmocka_unit_test(damaged_pages_are_noticed),
        cmocka_unit_test(values_read_as_their_type),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
