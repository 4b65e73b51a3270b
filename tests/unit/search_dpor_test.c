/* Partial order reduction against the oracle: the same happens-before classes, deadlocks and failures, on programs made
 * by hand and by chance. */
#include "search_programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool same_set(const struct model_set *a, const struct model_set *b)
{
    for (size_t i = 0; i < a->room; i++)
        if (a->at[i] && !model_set_has(b, a->at[i]))
            return false;
    return a->n == b->n;
}

/* How many schedules it took; 0: not the same. */
static uint64_t compare(const struct model_program *p, const struct model_result *all, bool loud)
{
    struct model_result found;
    struct dh_search search;
    model_search_init(&search, 1);
    model_explore(p, dh_strategy_by_name("dpor"), &search, 10000000, false, &found);
    bool same = found.exhausted && same_set(&found.ends, &all->ends) && !search.statistics.diverged &&
                (p->spins || same_set(&found.classes, &all->classes));
    if (!same || loud)
        print_message("%-40s %5zu classes, %5zu found, %6lu schedules, %4lu redundant, %3zu of %3zu ends%s\n", p->name,
                      all->classes.n, found.classes.n, found.schedules, search.statistics.redundant, found.ends.n,
                      all->ends.n, same ? "" : " WRONG");
    uint64_t n = same ? found.schedules : 0;
    model_result_release(&found);
    model_search_release(&search);
    return n;
}

static void finds_all_classes_of_programs(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (unsigned i = 0; i < MODEL_PROGRAMS; i++) {
        struct model_result all;
        assert_true(model_enumerate(&model_programs[i], false, 10000000, &all));
        wrong += !compare(&model_programs[i], &all, getenv("LOUD"));
        model_result_release(&all);
    }
    assert_int_equal(wrong, 0);
}

/* ---- programs by chance ---- */

static uint64_t seed;
static int pick(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (unsigned)n);
}

struct writer {
    struct model_line *line;
    int n, room;
};

static void put(struct writer *w, int op, int a, int b, int c)
{
    w->line[w->n++] = (struct model_line){(uint8_t)op, (int16_t)a, (int16_t)b, (int16_t)c};
}

static void put_access(struct writer *w)
{
    static const uint8_t ops[] = {OP_READ, OP_WRITE, OP_STORE, OP_ADD, OP_CAS, OP_ALOAD, OP_ASTORE};
    int op = ops[pick(sizeof ops)], var = pick(2);
    if (op == OP_CAS)
        put(w, op, var, pick(2) << 8 | pick(3), pick(2));
    else
        put(w, op, var, op == OP_WRITE || op == OP_ASTORE || op == OP_ADD ? 1 + pick(2) : pick(2), pick(2));
    if (pick(4) == 0)
        put(w, OP_JUMP_IF, pick(2), pick(2), 100); /* to the end, resolved later */
}

static void put_section(struct writer *w)
{
    int lock = pick(2), kind = pick(6);
    if (kind == 0) {
        put(w, OP_RDLOCK, lock, 0, 0);
        put_access(w);
        put(w, OP_RDUNLOCK, lock, 0, 0);
    } else if (kind == 1) {
        int at = w->n;
        put(w, OP_TRYLOCK, lock, 1, 0);
        put(w, OP_JUMP_IF, 1, 0, at + 4);
        put(w, OP_WRITE, 0, 1, 0);
        put(w, OP_UNLOCK, lock, 0, 0);
    } else {
        put(w, OP_LOCK, lock, 0, 0);
        if (kind == 2)
            put(w, OP_WAIT + pick(2), 0, lock, 0);
        if (kind == 3)
            put(w, OP_SIGNAL + pick(2), 0, 0, 0);
        if (kind == 4)
            put(w, OP_LOCK, !lock, 0, 0);
        if (kind > 4)
            put(w, OP_WRITE, pick(2), pick(3), 0);
        if (kind == 4)
            put(w, OP_UNLOCK, !lock, 0, 0);
        put(w, OP_UNLOCK, lock, 0, 0);
    }
}

static void put_other(struct writer *w)
{
    switch (pick(7)) {
    case 0:
        put(w, OP_SEM_WAIT, 0, 0, 0);
        break;
    case 1:
    case 2:
        put(w, OP_SEM_POST, 0, 0, 0);
        break;
    case 3:
        put(w, OP_BARRIER, 0, 2, 0);
        break;
    case 4:
        put(w, OP_WIDE, 0, 2 + 6 * pick(2), 0);
        break;
    case 5:
        put(w, OP_SIGNAL + pick(2), 0, 0, 0);
        break;
    default:
        if (pick(4) == 0)
            put(w, OP_FREE, pick(2), 0, 0);
        else if (pick(4) == 0)
            put(w, OP_EXIT, 0, 0, 0);
        else
            put(w, OP_IO, 0, 0, 0);
        break;
    }
}

static void write_program(struct model_program *p, int threads, int pieces)
{
    memset(p, 0, sizeof *p);
    p->name = "by chance";
    p->threads = (unsigned)threads;
    p->semaphore[0] = (uint8_t)pick(2);
    bool creates = pick(4) == 0;
    for (int t = 0; t < threads; t++) {
        struct writer w = {.line = p->line[t]};
        for (int i = 1; t == 0 && creates && i < threads; i++)
            put(&w, OP_CREATE, i, 0, 0);
        for (int i = 1 + pick(pieces); i; i--) {
            int kind = pick(8);
            if (kind < 4)
                put_access(&w);
            else if (kind < 6)
                put_section(&w);
            else
                put_other(&w);
        }
        if (pick(8) == 0)
            put(&w, OP_ASSERT, pick(2), 1, 0);
        if (t == 0 && pick(8) == 0)
            put(&w, OP_LEAVE, 0, 0, 0);
        if (t == 0 && creates && pick(2))
            put(&w, OP_JOIN, 1, 0, 0);
        for (int i = 0; i < w.n; i++)
            if (w.line[i].c == 100)
                w.line[i].c = (int16_t)w.n;
    }
}

static void show(const struct model_program *p)
{
    for (unsigned t = 0; t < p->threads; t++) {
        print_message("  thread %u:", t);
        for (const struct model_line *l = p->line[t]; l->op; l++)
            print_message(" %d(%d,%d,%d)", l->op, l->a, l->b, l->c);
        print_message("\n");
    }
}

static void finds_all_classes_of_random_programs(void **state)
{
    (void)state;
    uint64_t classes = 0, schedules = 0;
    unsigned compared = 0, blocked = 0, failed = 0;
    unsigned long programs = getenv("PROGRAMS") ? strtoul(getenv("PROGRAMS"), NULL, 0) : 1500;
    for (unsigned i = 0; i < programs; i++) {
        struct model_program p;
        struct model_result all;
        seed = 1000 + i;
        write_program(&p, 2 + pick(3), 3);
        if (!model_enumerate(&p, false, 4000, &all)) {
            model_result_release(&all);
            continue;
        }
        uint64_t n = compare(&p, &all, false);
        if (!n) {
            print_message("seed %u\n", 1000 + i);
            show(&p);
        }
        assert_true(n);
        compared++;
        blocked += all.blocked > 0;
        failed += all.failed > 0;
        classes += all.classes.n;
        schedules += n;
        model_result_release(&all);
    }
    print_message("%u programs, %u can block, %u can fail: %lu classes in %lu schedules\n", compared, blocked, failed,
                  classes, schedules);
    assert_true(compared > programs / 2 && blocked > programs / 20 && failed > programs / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_all_classes_of_programs),
        cmocka_unit_test(finds_all_classes_of_random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
