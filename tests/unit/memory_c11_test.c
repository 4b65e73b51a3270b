/* RC11 against its axioms. Rows without a source in brackets are our own.
 * [rc11] Lahav, Vafeiadis, Kang, Hur, Dreyer, Repairing Sequential Consistency in C/C++11, PLDI 2017. [batty] Batty,
 * Owens, Sarkar, Sewell, Weber, Mathematizing C++ Concurrency, POPL 2011. [cats] shapes of Herding Cats, TOPLAS 2014.
 * [p0982] Boehm, Giroux, Vafeiadis, Weaken Release Sequences, WG21 2018. [cpp] the standard, 6.9.2 and 33.5.4. */
#include "memory_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct litmus_row rows[] = {
    /* store buffering */
    {"SB, relaxed [batty]", "x=1.rlx; a=y.rlx | y=1.rlx; b=x.rlx", "", "00", "C"},
    {"SB, release and acquire [batty]", "x=1.rel; a=y.acq | y=1.rel; b=x.acq", "", "00", "C"},
    {"SB, seq_cst [batty]", "x=1.sc; a=y.sc | y=1.sc; b=x.sc", "", "00", ""},
    {"SB, seq_cst stores only", "x=1.sc; a=y.acq | y=1.sc; b=x.acq", "", "00", "C"},
    {"SB, seq_cst loads only", "x=1.rel; a=y.sc | y=1.rel; b=x.sc", "", "00", "C"},
    {"SB, one access not seq_cst", "x=1.sc; a=y.sc | y=1.rel; b=x.sc", "", "00", "C"},
    {"SB, fences [rc11]", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; F.sc; b=x.rlx", "", "00", ""},
    {"SB, plain, fences", "x=1; F.sc; a=y | y=1; F.sc; b=x", "", "00", ""},
    {"SB, one fence", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; b=x.rlx", "", "00", "C"},
    {"SB, a fence and seq_cst", "x=1.rlx; F.sc; a=y.rlx | y=1.sc; b=x.sc", "", "00", ""},
    {"SB, acq_rel fences", "x=1.rlx; F.ar; a=y.rlx | y=1.rlx; F.ar; b=x.rlx", "", "00", "C"},
    {"SB, exchanges", "c=x:=1.ar; a=y.acq | d=y:=1.ar; b=x.acq", "", "0000", "C"},
    {"SB, exchanges that are seq_cst", "c=x:=1.sc; a=y.sc | d=y:=1.sc; b=x.sc", "", "0000", ""},
    {"SB, an update of a third variable between", "x=1.rlx; c=z+=1.ar; a=y.rlx | y=1.rlx; d=z+=1.ar; b=x.rlx", "",
     "0001", ""},
    {"SB, that update relaxed", "x=1.rlx; c=z+=1.rlx; a=y.rlx | y=1.rlx; d=z+=1.rlx; b=x.rlx", "", "0001", "C"},
    {"SB, locks", "lock; x=1; a=y; unlock | lock; y=1; b=x; unlock", "", "00", ""},
    {"3.SB, fences [cats]", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; F.sc; b=z.rlx | z=1.rlx; F.sc; c=x.rlx", "", "000", ""},
    {"3.SB, two fences", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; F.sc; b=z.rlx | z=1.rlx; c=x.rlx", "", "000", "C"},
    /* message passing */
    {"MP, relaxed [batty]", "x=1.rlx; y=1.rlx | a=y.rlx; b=x.rlx", "", "10", "C"},
    {"MP, release and acquire [batty]", "x=1; y=1.rel | a=y.acq; b=x", "", "10", ""},
    {"MP, release and relaxed", "x=1.rlx; y=1.rel | a=y.rlx; b=x.rlx", "", "10", "C"},
    {"MP, relaxed and acquire", "x=1.rlx; y=1.rlx | a=y.acq; b=x.rlx", "", "10", "C"},
    {"MP, release and acquire fences [cpp]", "x=1; F.rel; y=1.rlx | a=y.rlx; F.acq; b=x", "", "10", ""},
    {"MP, release fence, acquire load [cpp]", "x=1; F.rel; y=1.rlx | a=y.acq; b=x", "", "10", ""},
    {"MP, release store, acquire fence [cpp]", "x=1; y=1.rel | a=y.rlx; F.acq; b=x", "", "10", ""},
    {"MP, release fence too early", "F.rel; x=1; y=1.rlx | a=y.acq; b=x", "", "10", "C"},
    {"MP, acquire fence too early", "x=1; y=1.rel | F.acq; a=y.rlx; b=x", "", "10", "C"},
    {"MP, fences and plain flag", "x=1; F.rel; y=1 | a=y; F.acq; b=x", "", "10", "C"},
    {"MP, seq_cst fences and plain flag", "x=1; F.sc; y=1 | a=y; F.sc; b=x", "", "10", ""},
    {"MP, seq_cst", "x=1; y=1.sc | a=y.sc; b=x", "", "10", ""},
    {"MP, locks", "lock; x=1; y=1; unlock | lock; a=y; b=x; unlock", "", "10", ""},
    {"MP, plain", "x=1; y=1 | a=y; b=x", "", "10", "C"},
    {"double-checked locking", "lock; x=1; y=1; unlock | a=y; a==1?; b=x", "", "10", "C"},
    {"double-checked locking, corrected", "lock; x=1; y=1.rel; unlock | a=y.acq; a==1?; b=x", "", "10", ""},
    /* release sequences */
    {"an update goes on with it [cpp]", "x=1; y=1.rel | a=y+=1.rlx | b=y.acq; c=x", "", "120", ""},
    {"so does one that failed, not", "x=1; y=1.rel | a=y?2:3.rlx | b=y.acq; c=x", "", "110", ""},
    {"two updates", "x=1; y=1.rel | a=y+=1.rlx; b=y+=1.rlx | c=y.acq; d=x", "", "1230", ""},
    {"another's store ends it [cpp]", "x=1; y=1.rel | y=2.rlx | a=y.acq; b=x", "", "20", "C"},
    {"the thread's own store ends it [p0982]", "x=1; y=1.rel; y=2.rlx | a=y.acq; b=x", "", "20", "C"},
    {"of a fence", "x=1; F.rel; y=1.rlx | a=y+=1.rlx | b=y.rlx; F.acq; c=x", "", "120", ""},
    {"an update that acquires only hands it on", "x=1; y=1.rel | a=y+=1.acq | b=y.acq; c=x", "", "120", ""},
    /* load buffering and thin air: excluded */
    {"LB, relaxed [rc11]", "a=x.rlx; y=1.rlx | b=y.rlx; x=1.rlx", "", "11", ""},
    {"LB, dependent [rc11]", "a=x.rlx; y=a.rlx | b=y.rlx; x=b.rlx", "", "11", ""},
    /* write orders */
    {"S, relaxed [cats]", "x=2.rlx; y=1.rlx | a=y.rlx; x=1.rlx", "x", "12", "C"},
    {"S, release and acquire", "x=2.rlx; y=1.rel | a=y.acq; x=1.rlx", "x", "12", ""},
    {"R, release [cats]", "x=1.rlx; y=1.rel | y=2.rel; a=x.acq", "y", "02", "C"},
    {"R, seq_cst", "x=1.sc; y=1.sc | y=2.sc; a=x.sc", "y", "02", ""},
    {"R, fences", "x=1.rlx; F.sc; y=1.rlx | y=2.rlx; F.sc; a=x.rlx", "y", "02", ""},
    {"2+2W, relaxed [cats]", "x=1.rlx; y=2.rlx | y=1.rlx; x=2.rlx", "xy", "11", "C"},
    {"2+2W, release [rc11]", "x=1.rel; y=2.rel | y=1.rel; x=2.rel", "xy", "11", "C"},
    {"2+2W, seq_cst", "x=1.sc; y=2.sc | y=1.sc; x=2.sc", "xy", "11", ""},
    {"2+2W, fences", "x=1.rlx; F.sc; y=2.rlx | y=1.rlx; F.sc; x=2.rlx", "xy", "11", ""},
    {"2+2W, updates", "a=x:=1.ar; b=y:=2.ar | c=y:=1.ar; d=x:=2.ar", "", "2020", ""},
    /* three and four threads */
    {"WRC, relaxed [batty]", "x=1.rlx | a=x.rlx; y=1.rlx | b=y.rlx; c=x.rlx", "", "110", "C"},
    {"WRC, release and acquire [batty]", "x=1.rlx | a=x.rlx; y=1.rel | b=y.acq; c=x.rlx", "", "110", ""},
    {"ISA2, release and acquire [batty]", "x=1; y=1.rel | a=y.acq; z=1.rel | b=z.acq; c=x", "", "110", ""},
    {"ISA2, the middle relaxed", "x=1; y=1.rel | a=y.rlx; z=1.rel | b=z.acq; c=x", "", "110", "C"},
    {"IRIW, release and acquire [batty]", "x=1.rel | y=1.rel | a=x.acq; b=y.acq | c=y.acq; d=x.acq", "", "1010", "C"},
    {"IRIW, seq_cst [batty]", "x=1.sc | y=1.sc | a=x.sc; b=y.sc | c=y.sc; d=x.sc", "", "1010", ""},
    {"IRIW-acq-sc [rc11]", "x=1.sc | a=x.acq; b=y.sc | c=y.acq; d=x.sc | y=1.sc", "", "1010", "C"},
    {"IRIW, fences [rc11]", "x=1.rlx | y=1.rlx | a=x.rlx; F.sc; b=y.rlx | c=y.rlx; F.sc; d=x.rlx", "", "1010", ""},
    {"RWC+syncs [rc11]", "x=1.rlx | a=x.acq; F.sc; b=y.rlx | y=1.rlx; F.sc; c=x.rlx", "", "100", ""},
    {"W+RWC [rc11]", "x=1.rlx; z=1.rel | a=z.acq; F.sc; b=y.rlx | y=1.rlx; F.sc; c=x.rlx", "", "100", ""},
    {"W+RWC, seq_cst", "x=1.sc; z=1.rel | a=z.acq; b=y.sc | y=1.sc; c=x.sc", "", "100", ""},
    {"W+RWC, seq_cst, relaxed between", "x=1.sc; z=1.rlx | a=z.rlx; b=y.sc | y=1.sc; c=x.sc", "", "100", "C"},
    {"W+RWC, seq_cst, fences between", "x=1.sc; F.rel; z=1.rlx | a=z.rlx; F.acq; b=y.sc | y=1.sc; c=x.sc", "", "100",
     ""},
    {"Z6.U [rc11]", "x=1.sc; y=1.rel | b=y+=1.sc; c=y.rlx | y=3.sc; a=x.sc", "", "013", "C"},
    /* coherence and atomicity */
    {"CoRR [batty]", "x=1.rlx | a=x.rlx; b=x.rlx", "", "10", ""},
    {"CoRR, plain", "x=1 | a=x; b=x", "", "10", ""},
    {"CoRR, two readers", "x=1.rlx | x=2.rlx | a=x.rlx; b=x.rlx | c=x.rlx; d=x.rlx", "", "1221", ""},
    {"CoWW [batty]", "x=1.rlx; x=2.rlx", "x", "1", ""},
    {"CoRW [batty]", "a=x.rlx; x=1.rlx | x=2.rlx", "x", "22", ""},
    {"CoWR [batty]", "x=1.rlx; a=x.rlx | x=2.rlx", "x", "21", ""},
    {"CoRR across threads", "x=1.rlx; x=2.rlx | a=x.rlx; y=1.rel | b=y.acq; c=x.rlx", "", "211", ""},
    {"increments", "a=x+=1.rlx | b=x+=1.rlx", "x", "012", "C"},
    {"increments, one lost", "a=x+=1.rlx | b=x+=1.rlx", "x", "001", ""},
    {"three increments", "a=x+=1.rlx | b=x+=1.rlx | c=x+=1.rlx", "x", "0213", "C"},
    {"two who win", "a=x?0:1.acq | b=x?0:2.acq", "", "00", ""},
    {"a store between", "a=x:=1.rlx | x=2.rlx", "x", "01", ""},
    {"a store after, executed before", "a=x:=1.rlx | x=2.rlx; b=y.rlx | y=1.rlx", "x", "012", "C"},
};

static void axioms(const struct litmus *l, struct outcomes *out)
{
    oracle_axiomatic(ORACLE_RC11, l, out);
}

static const struct dh_memory_model *model;

static void literature(void **state)
{
    (void)state;
    assert_int_equal(check_rows(model, 'C', rows, sizeof rows / sizeof *rows, axioms), 0);
}

static struct litmus_taste taste_of(unsigned i)
{
    static const char *const orders[] = {"1", "0123", "5", "15", "012345", "01"};
    return (struct litmus_taste){.threads = 3,
                                 .ops = 6 + i % 2,
                                 .variables = 2,
                                 .orders = orders[i % 6],
                                 .updates = i % 4 < 2,
                                 .fences = i % 3 < 2,
                                 .locks = i % 11 == 0,
                                 .dependencies = i % 5 == 0};
}

static void explore(const char *name, const struct litmus *l, struct outcomes *out)
{
    struct litmus_run run = {.model = dh_memory_model_by_name(name)};
    litmus_explore(&run, l, out);
    assert_int_equal(run.lost.removed + run.lost.narrowed + run.lost.no_memory, 0);
}

static bool has_sc(const struct litmus *l)
{
    for (unsigned t = 0; t < l->threads; t++)
        for (unsigned i = 0; i < l->n[t]; i++)
            if (l->op[t][i].order == DH_ORDER_SEQ_CST)
                return true;
    return false;
}

static void within(const struct litmus *l, const char *name, const struct outcomes *a, const char *other,
                   const struct outcomes *b)
{
    if (!outcomes_within(a, b))
        agree(l, name, a, other, b);
    assert_true(outcomes_within(a, b));
}

/* What processors do with compiled programs is allowed, and hb, which knows no coherence, allows more. */
static void random_programs(void **state)
{
    (void)state;
    static struct outcomes ours, theirs;
    uint64_t seed = 1;
    for (unsigned i = how_many(120); i; i--) {
        struct litmus l;
        struct litmus_taste taste = taste_of(i);
        litmus_random(&l, &taste, &seed);
        explore("c11", &l, &ours);
        axioms(&l, &theirs);
        assert_true(agree(&l, "c11", &ours, "axioms", &theirs));
        explore("sc", &l, &theirs);
        within(&l, "sc", &theirs, "c11", &ours);
        if (i % 4 == 0) {
            explore("pso", &l, &theirs);
            within(&l, "pso", &theirs, "c11", &ours);
        }
        if (!taste.updates && !has_sc(&l)) {
            explore("hb", &l, &theirs);
            within(&l, "c11", &ours, "hb", &theirs);
        }
    }
}

/* What is forgotten for lack of room leaves fewer outcomes, and none that is not allowed. */
static void small_histories(void **state)
{
    (void)state;
    static struct outcomes ours, theirs;
    uint64_t seeds = 3, lost = 0;
    for (unsigned i = how_many(60); i; i--) {
        struct litmus l;
        struct litmus_taste taste = taste_of(i);
        struct litmus_run run = {.model = model, .history = 1 + i % 3};
        litmus_random(&l, &taste, &seeds);
        litmus_explore(&run, &l, &ours);
        axioms(&l, &theirs);
        within(&l, "c11", &ours, "axioms", &theirs);
        lost += run.lost.removed + run.lost.narrowed;
    }
    assert_true(lost > 0);
}

/* ---- long runs ---- */

static uint64_t words[4], seed;

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void *allocate(struct dh_memory *m, size_t size)
{
    (void)m;
    return calloc(1, size);
}

static uint64_t peek(struct dh_memory *m, uint64_t address, unsigned size)
{
    (void)m, (void)size;
    return words[address / 8];
}

static void poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    (void)m, (void)size;
    words[address / 8] = value;
}

static void act(void *self, bool sc, uint64_t value)
{
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    struct dh_access a = {.thread = pick(4), .size = 8, .address = 8 * pick(3), .updates = pick(4) == 0};
    a.order = (uint8_t)(1 + pick(sc ? 5 : 4));
    if (!a.updates && pick(2)) {
        model->store(self, &a, value);
        return;
    }
    unsigned n = model->load(self, &a, list, DH_MEMORY_CANDIDATES), which = pick(n);
    assert_true(n > 0);
    assert_int_equal(list[0].value, words[a.address / 8]);
    if (a.updates)
        model->update(self, &a, list[which].index, value);
    else
        model->took(self, &a, list[which].index);
    if (pick(200) == 0)
        model->forget(self, 8 * pick(3), 8);
    if (pick(20) == 0)
        model->release(self, pick(4), 77);
    if (pick(20) == 0)
        model->acquire(self, pick(4), 77);
}

static unsigned values_of(void *self, uint64_t address, struct dh_candidate *list)
{
    struct dh_access a = {.thread = 0, .size = 8, .address = address, .order = DH_ORDER_NONE};
    return model->load(self, &a, list, DH_MEMORY_CANDIDATES);
}

/* 2+2W with fences, one thread after the other: that x ends as 1 is possible if y's order, not looked at yet, is the
 * other way round than its stores came; memory follows. */
static void late_decisions(void **state)
{
    (void)state;
    struct dh_memory m = {.threads = 4, .memory = allocate, .peek = peek, .poke = poke};
    void *self = model->start(&m);
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    memset(words, 0, sizeof words);
    for (uint32_t t = 1; t <= 2; t++)
        model->fork(self, 0, t);
    for (uint32_t t = 1; t <= 2; t++) {
        struct dh_access a = {.thread = t, .size = 8, .address = 8 * t, .order = DH_ORDER_RELAXED};
        model->store(self, &a, 1);
        model->fence(self, t, DH_ORDER_SEQ_CST);
        a.address = 8 * (3 - t);
        model->store(self, &a, 2);
    }
    for (uint32_t t = 1; t <= 2; t++)
        model->join(self, 0, t);
    assert_true(words[1] == 2 && words[2] == 1);
    assert_int_equal(values_of(self, 8, list), 2);
    assert_true(list[0].value == 2 && list[1].value == 1);
    struct dh_access a = {.thread = 0, .size = 8, .address = 8};
    model->took(self, &a, list[1].index);
    assert_true(words[1] == 1 && words[2] == 2);
    assert_int_equal(values_of(self, 16, list), 1);
    assert_int_equal(list[0].value, 2);
    assert_int_equal(m.lost.narrowed, 0);
}

/* Whatever is given up: there is always an answer, and the first is what memory holds. */
static void long_runs(void **state)
{
    (void)state;
    seed = 7;
    for (unsigned round = 0; round < 40; round++) {
        struct dh_memory m = {
            .threads = 4, .history = round % 3 ? 0 : 5, .memory = allocate, .peek = peek, .poke = poke};
        void *self = model->start(&m);
        for (uint32_t t = 1; t < 4; t++)
            model->fork(self, 0, t);
        for (uint64_t i = 1; i <= 500; i++)
            act(self, round % 2, i);
        assert_int_equal(m.lost.no_memory, 0);
    }
}

int main(void)
{
    model = dh_memory_model_by_name("c11");
    const struct CMUnitTest tests[] = {cmocka_unit_test(literature), cmocka_unit_test(random_programs),
                                       cmocka_unit_test(small_histories), cmocka_unit_test(long_runs),
                                       cmocka_unit_test(late_decisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
