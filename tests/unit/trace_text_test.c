/* Text traces, STD traces and rules: what they mean, that what is printed is read again, and what is said of those that
 * are malformed. */
#include "base/str.h"
#include "event/site.h"
#include "trace/import_std.h"
#include "trace/rules.h"
#include "trace/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct dh_text *read_text(const char *text)
{
    struct dh_err err = {0};
    struct dh_text *t = dh_text_new("t", text, strlen(text), &err);
    if (!t)
        fail_msg("%s", err.text);
    return t;
}

static struct dh_event next(struct dh_text *t)
{
    struct dh_event e;
    assert_true(dh_text_next(t, &e));
    return e;
}

static void names_get_addresses(void **state)
{
    (void)state;
    struct dh_text *t = read_text("# a comment\n\n"
                                  "0 write a.x @a.c:1\n"
                                  "1 read a.y size=2   # the second field\n"
                                  "0 read a+20\n"
                                  "0 write b\n"
                                  "0 write 0x70\n"
                                  "0 write big+1000 size=8\n"
                                  "0 write after\n");
    struct dh_event ax = next(t), ay = next(t), a20 = next(t), b = next(t), hex = next(t), big = next(t),
                    last = next(t);
    assert_int_equal(ay.addr - ax.addr, 8);
    assert_int_equal(ay.arg, 2);
    assert_int_equal(a20.addr - ax.addr, 20);
    assert_int_equal(ax.addr % 64, 0);
    assert_true(b.addr >= ax.addr + 24 && b.addr % 64 == 0);
    assert_int_equal(hex.addr, 0x70);
    assert_true(last.addr >= big.addr + 8 || last.addr + 4 <= big.addr - 1000);
    assert_int_equal(ax.seq, 0);
    assert_int_equal(ay.site, DH_NO_PLACE);
    struct dh_run_host host = {0};
    const struct dh_site_table *table;
    uint64_t at, size;
    dh_text_host(t, &host);
    const struct dh_site *s = host.site(host.arg, ax.site, &table);
    assert_string_equal(dh_site_string(table, s->variable), "a.x");
    assert_string_equal(dh_site_string(table, s->field), "x");
    assert_int_equal(s->line, 1);
    assert_true(host.global(host.arg, ay.addr, &at, &size));
    assert_true(at == ax.addr && size == 24);
    dh_text_free(t);
}

static void kinds_say_what_they_say(void **state)
{
    (void)state;
    struct dh_text *t = read_text("0 atomic f op=cas-failed order=relaxed size=8\n"
                                  "0 atomic f op=store order=release\n"
                                  "0 fence order=acquire\n"
                                  "0 alloc p size=100 region=mapped\n"
                                  "0 free p\n"
                                  "0 lock m shared try\n"
                                  "0 wait c mutex=m\n"
                                  "0 block class=semaphore timed\n"
                                  "0 create 7\n"
                                  "7 begin\n"
                                  "7 enter in=f object=p @a.c:3\n"
                                  "0 collision p size=4 with=7\n");
    struct dh_event e = next(t);
    assert_int_equal(e.arg, DH_OP_ATOMIC_CAS | DH_ORDER_RELAXED << 8 | 8 << 16);
    e = next(t);
    assert_true(dh_event_atomic_wrote(&e));
    assert_int_equal(next(t).arg, DH_ORDER_ACQUIRE);
    struct dh_event alloc = next(t), freed = next(t), lock = next(t), wait = next(t), block = next(t);
    assert_int_equal(alloc.flags, DH_MEMORY_MAPPED);
    assert_true(freed.addr == alloc.addr && freed.arg == 100);
    assert_int_equal(lock.flags, DH_EVENT_SHARED | DH_EVENT_TRY);
    assert_int_equal(wait.arg, lock.addr);
    assert_int_equal(block.addr, 0);
    assert_true(block.arg == DH_SYNC_SEMAPHORE && block.flags == DH_EVENT_TIMED);
    assert_int_equal(next(t).arg, 7);
    assert_int_equal(next(t).kind, DH_EVENT_THREAD_BEGIN);
    assert_int_equal(next(t).addr, alloc.addr);
    assert_int_equal(next(t).arg, 7ull << 32 | 4);
    assert_false(dh_text_next(t, &e));
    dh_text_free(t);
}

/* ---- printing ---- */

static uint32_t seed = 3;
static uint32_t random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* One that a recorder could have made: what a kind does not have is 0. */
static struct dh_event any_event(void)
{
    struct dh_event e = {.kind = (uint8_t)(1 + random_number() % (DH_EVENT_COUNT - 1)),
                         .thread = random_number() % 9,
                         .site = DH_NO_PLACE,
                         .ctx = random_number() % 3};
    unsigned group = dh_event_info(e.kind)->group;
    bool threads = group == DH_EVENTS_THREAD;
    e.flags = group == DH_EVENTS_MEMORY ? random_number() % 5 : random_number() & 0x7F;
    e.addr = threads || e.kind == DH_EVENT_FENCE || e.kind == DH_EVENT_MARK ? 0 : 1 + random_number();
    e.arg = threads                                                  ? random_number() % 9
            : group == DH_EVENTS_ACCESS || group == DH_EVENTS_MEMORY ? random_number()
            : e.kind == DH_EVENT_ATOMIC ? DH_OP_ATOMIC_RMW | random_number() % 6 << 8 | 4 << 16 | 1ull << 32
            : e.kind == DH_EVENT_FENCE  ? random_number() % 6
            : group == DH_EVENTS_ORDER || group == DH_EVENTS_WAIT          ? random_number() % DH_SYNC_CLASS_COUNT
            : group == DH_EVENTS_CONDITION || group == DH_EVENTS_COLLISION ? random_number() % (1 << 16)
                                                                           : 0;
    return e;
}

static void printed_is_read(void **state)
{
    (void)state;
    struct dh_run_host nobody = {0};
    for (unsigned i = 0; i < 3000; i++) {
        struct dh_event e = any_event(), got;
        struct dh_str line = {0};
        dh_text_print(&line, &nobody, &e);
        struct dh_text *t = read_text(line.at);
        got = next(t);
        got.seq = e.seq;
        if (memcmp(&e, &got, sizeof e) != 0)
            fail_msg("%s", line.at);
        dh_text_free(t);
        dh_str_release(&line);
    }
}

static void places_are_printed(void **state)
{
    (void)state;
    struct dh_text *t = read_text("0 write x var=\"struct a b.c\" in=\"operator \\\"\\\" x\" @\"my file.c:12\"\n");
    struct dh_event e = next(t);
    struct dh_run_host host = {0};
    struct dh_str line = {0};
    dh_text_host(t, &host);
    dh_text_print(&line, &host, &e);
    assert_non_null(strstr(line.at, " var=\"struct a b.c\" in=\"operator \\\"\\\" x\" @\"my file.c:12\"\n"));
    dh_str_release(&line);
    dh_text_free(t);
}

/* ---- malformed ---- */

static void refused_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"0 write x\nx write y\n", "t:2: expected the index of a thread, not 'x'"},
        {"0", "t:1: expected a kind of event"},
        {"0 wrote x", "t:1: expected a kind of event (read, write, lock, ...), not 'wrote'"},
        {"0 write", "t:1: expected NAME, NAME+OFFSET or 0xADDRESS, not 'nothing'"},
        {"0 write @a.c:1", "not '@a.c:1'"},
        {"0 write x size=four", "expected size=BYTES, not 'four'"},
        {"0 write x colour=red", "expected one of the keys"},
        {"0 write x order=strong", "expected order=none|relaxed|acquire|release|acq_rel|seq_cst, not 'strong'"},
        {"0 write x slowly", "expected KEY=VALUE, a flag"},
        {"0 write x @a.c", "expected @FILE:LINE, not 'a.c'"},
        {"0 write x+y", "expected NAME+OFFSET, not 'x+y'"},
        {"0 write 0xzz", "expected an address"},
        {"0 create main", "expected the index of a thread, not 'main'"},
        {"9999999 write x", "expected the index of a thread"},
        {"0 alloc 0x10", "expected size=BYTES, not 'nothing'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dh_err err = {0};
        assert_null(dh_text_new("t", cases[i].text, strlen(cases[i].text), &err));
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].text, err.text);
        dh_err_release(&err);
    }
}

/* ---- STD ---- */

static FILE *as_file(const char *text)
{
    return fmemopen((void *)text, strlen(text), "r");
}

static void std_is_read(void **state)
{
    (void)state;
    static const char text[] = "main|fork(T1)|1\r\n"
                               "T1|acq(java.lang.Object@12)|A.java:3\n"
                               "T1|w(a.x)|A.java:4\n"
                               "T1|rel(java.lang.Object@12)|A.java:5\n"
                               "main|join(T1)|6\n"
                               "main|r(a.x)|where it is\n";
    static const uint8_t kinds[] = {DH_EVENT_THREAD_CREATE, DH_EVENT_THREAD_BEGIN, DH_EVENT_LOCK,        DH_EVENT_WRITE,
                                    DH_EVENT_UNLOCK,        DH_EVENT_THREAD_END,   DH_EVENT_THREAD_JOIN, DH_EVENT_READ};
    struct dh_meta meta = {0};
    struct dh_err err = {0};
    struct dh_event e[9];
    FILE *in = as_file(text);
    struct dh_std *s = dh_std_new(in, "s", &meta);
    for (size_t i = 0; i < sizeof kinds; i++) {
        assert_int_equal(dh_std_next(s, &e[i], &err), DH_STD_EVENT);
        assert_int_equal(e[i].kind, kinds[i]);
    }
    assert_int_equal(dh_std_next(s, &e[8], &err), DH_STD_END);
    assert_int_equal(e[2].addr, e[4].addr);
    assert_int_equal(e[3].addr, e[7].addr);
    assert_true(e[3].thread == 1 && e[7].thread == 0 && e[5].thread == 1);
    assert_string_equal(meta.threads.at[1].name, "T1");
    assert_string_equal(meta.places.at[e[3].site].file, "A.java");
    assert_int_equal(meta.places.at[e[3].site].line, 4);
    assert_string_equal(meta.places.at[e[3].site].variable, "a.x");
    assert_string_equal(meta.places.at[e[7].site].file, "where it is");
    dh_std_free(s);
    fclose(in);
    dh_meta_release(&meta);
}

static void refused_std(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"T0|r(x)|1\nnothing\n", "s:2: expected THREAD|OPERATION(WHAT)|LOCATION, not 'nothing'"},
        {"T0|read(x)|1\n", "s:1: expected an operation: r, w, acq, rel, fork, join, begin or end, not 'read'"},
        {"T0|r(x|1\n", "s:1: expected ')' after the operation"},
        {"T0|r|1\n", "s:1: expected a name in ( )"},
        {"|r(x)|1\n", "s:1: expected the name of a thread"},
        {"T0|fork()|1\n", "s:1: expected the name of a thread in ( )"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dh_meta meta = {0};
        struct dh_err err = {0};
        struct dh_event e;
        FILE *in = as_file(cases[i][0]);
        struct dh_std *s = dh_std_new(in, "s", &meta);
        while (dh_std_next(s, &e, &err) == DH_STD_EVENT)
            ;
        if (!err.text || !strstr(err.text, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], err.text ? err.text : "no error");
        dh_err_release(&err);
        dh_std_free(s);
        fclose(in);
        dh_meta_release(&meta);
    }
}

/* ---- rules ---- */

static bool skips(const char *rules, const char *place)
{
    struct dh_err err = {0};
    struct dh_rules *r = dh_rules_parse("r", rules, strlen(rules), &err);
    if (!r)
        fail_msg("%s", err.text);
    struct dh_text *t = read_text(place);
    struct dh_run_host host = {0};
    dh_text_host(t, &host);
    struct dh_rules_filter *f = dh_rules_filter_new(r, &host);
    struct dh_event e = next(t);
    bool keeps = dh_rules_keeps(f, &e);
    assert_int_equal(dh_rules_keeps(f, &e), keeps);
    dh_rules_filter_free(f);
    dh_text_free(t);
    dh_rules_free(r);
    return !keeps;
}

static void rules_decide(void **state)
{
    (void)state;
    static const char place[] = "0 write b var=\"struct account.balance\" in=deposit @/src/lib/bank.c:12\n";
    assert_false(skips("", place));
    assert_true(skips("skip file bank.c", place));
    assert_true(skips("# all of it\n\n  skip  file  lib/*.c  \n", place));
    assert_false(skips("skip file ank.c", place));
    assert_false(skips("skip file *\nrecord function depos*", place));
    assert_true(skips("record function depos*\nskip file *", place));
    assert_true(skips("skip type account", place));
    assert_true(skips("skip type struct account", place));
    assert_false(skips("skip type balance", place));
    assert_true(skips("skip field balance", place));
    assert_true(skips("skip field account.balance", place));
    assert_true(skips("skip field struct account.*", place));
    assert_false(skips("skip field limit", place));
    assert_false(skips("skip file *", "0 lock m @a.c:1\n")); /* never */
    assert_false(skips("skip file *", "0 atomic m @a.c:1\n"));
}

static void refused_rules(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"skip file a\nomit file b", "r:2: expected 'skip' or 'record', not 'omit'"},
        {"skip", "r:1: expected 'file', 'function', 'type' or 'field', not 'nothing'"},
        {"skip line 3", "r:1: expected 'file', 'function', 'type' or 'field', not 'line'"},
        {"skip file  ", "r:1: expected a pattern, not 'nothing'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dh_err err = {0};
        assert_null(dh_rules_parse("r", cases[i][0], strlen(cases[i][0]), &err));
        assert_string_equal(err.text, cases[i][1]);
        dh_err_release(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_get_addresses), cmocka_unit_test(kinds_say_what_they_say),
        cmocka_unit_test(printed_is_read),     cmocka_unit_test(places_are_printed),
        cmocka_unit_test(refused_texts),       cmocka_unit_test(std_is_read),
        cmocka_unit_test(refused_std),         cmocka_unit_test(rules_decide),
        cmocka_unit_test(refused_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
