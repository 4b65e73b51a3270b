/* The happens-before model with writes to come, against its definition. */
#include "memory_programs.h"
#include "memory_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct dh_memory_model *model;

static void literature(void **state)
{
    (void)state;
    assert_int_equal(check_rows(model, 'M', litmus_rows, LITMUS_ROWS, oracle_hbmm), 0);
}

static void random_programs(void **state)
{
    (void)state;
    static struct outcomes ours, theirs, hb;
    uint64_t seed = 1;
    for (unsigned i = how_many(60); i; i--) {
        struct litmus l;
        struct litmus_run run = {.model = model}, less = {.model = dh_memory_model_by_name("hb")};
        struct litmus_taste taste = {.threads = i % 3 ? 2 : 3,
                                     .ops = 5,
                                     .variables = 2,
                                     .orders = i % 4 ? "0" : "00125",
                                     .fences = i % 4 == 0,
                                     .locks = i % 3 == 0,
                                     .dependencies = i % 2};
        litmus_random(&l, &taste, &seed);
        litmus_explore(&run, &l, &ours);
        oracle_hbmm(&l, &theirs);
        assert_true(agree(&l, "hbmm", &ours, "definition", &theirs));
        litmus_explore(&less, &l, &hb);
        assert_true(outcomes_within(&hb, &ours));
    }
}

/* ---- without locks and dependencies every read may take any write that program order does not hide ---- */

static const struct litmus_op *last_own(const struct litmus *l, unsigned thread, unsigned before, unsigned variable)
{
    for (unsigned i = before; i-- > 0;)
        if (l->op[thread][i].kind == OP_STORE && l->op[thread][i].variable == variable)
            return &l->op[thread][i];
    return NULL;
}

struct slot {
    unsigned n;
    uint8_t value[16];
    uint8_t *to;
};

static void put(struct slot *s, uint8_t value)
{
    s->value[s->n++] = value;
}

static struct slot slot_of_read(const struct litmus *l, unsigned thread, unsigned index, uint8_t *to)
{
    struct slot s = {.to = to};
    unsigned v = l->op[thread][index].variable;
    const struct litmus_op *own = last_own(l, thread, index, v);
    put(&s, own ? own->value : 0);
    for (unsigned t = 0; t < l->threads; t++)
        for (unsigned i = 0; t != thread && i < l->n[t]; i++)
            if (l->op[t][i].kind == OP_STORE && l->op[t][i].variable == v)
                put(&s, l->op[t][i].value);
    return s;
}

static struct slot slot_of_final(const struct litmus *l, unsigned variable, uint8_t *to)
{
    struct slot s = {.to = to};
    for (unsigned t = 0; t < l->threads; t++) {
        const struct litmus_op *last = last_own(l, t, l->n[t], variable);
        if (last)
            put(&s, last->value);
    }
    if (!s.n)
        put(&s, 0);
    return s;
}

static void combine(const struct litmus *l, const struct slot *slots, unsigned n, const uint8_t *registers,
                    const uint8_t *variables, struct outcomes *out)
{
    if (!n) {
        outcomes_add(out, litmus_outcome(l, registers, variables));
        return;
    }
    for (unsigned i = 0; i < slots->n; i++) {
        *slots->to = slots->value[i];
        combine(l, slots + 1, n - 1, registers, variables, out);
    }
}

static void combine_all(const struct litmus *l, struct outcomes *out)
{
    uint8_t registers[LITMUS_REGISTERS] = {0}, variables[LITMUS_VARIABLES] = {0};
    struct slot slots[LITMUS_REGISTERS + LITMUS_VARIABLES];
    unsigned n = 0;
    for (unsigned t = 0; t < l->threads; t++)
        for (unsigned i = 0; i < l->n[t]; i++)
            if (l->op[t][i].kind == OP_LOAD)
                slots[n++] = slot_of_read(l, t, i, &registers[l->op[t][i].to]);
    for (unsigned v = 0; v < LITMUS_VARIABLES; v++)
        if (l->final[v])
            slots[n++] = slot_of_final(l, v, &variables[v]);
    out->n = 0;
    combine(l, slots, n, registers, variables, out);
}

static void straight_programs(void **state)
{
    (void)state;
    static struct outcomes ours, theirs;
    uint64_t seed = 9;
    for (unsigned i = how_many(60); i; i--) {
        struct litmus l;
        struct litmus_run run = {.model = model};
        struct litmus_taste taste = {.threads = i % 3 ? 2 : 3, .ops = 5, .variables = 2, .orders = "0"};
        litmus_random(&l, &taste, &seed);
        litmus_explore(&run, &l, &ours);
        combine_all(&l, &theirs);
        assert_true(agree(&l, "hbmm", &ours, "definition", &theirs));
    }
}

/* ---- by hand ---- */

static struct dh_memory_access access_at(uint32_t thread, uint32_t occurrence)
{
    return (struct dh_memory_access){.thread = thread, .site = 5, .occurrence = occurrence, .address = 8, .size = 8};
}

/* Thread 1 writes 7; was it foreseen that thread 2 loads it before? */
static unsigned candidates_before(void *self, struct dh_candidate *list)
{
    struct dh_memory_access load = access_at(2, 0);
    memset(words, 0, sizeof words);
    model->begin(self);
    model->fork(self, 0, 1);
    model->fork(self, 0, 2);
    return model->load(self, &load, list, DH_MEMORY_CANDIDATES);
}

static void end_with_store(void *self, uint32_t occurrence, uint64_t value, bool is_justified)
{
    struct dh_memory_access store = access_at(1, occurrence);
    model->store(self, &store, value);
    assert_int_equal(model->is_justified(self), is_justified);
}

/* What a run has shown is offered in the next pass, not before; what no run can speak of never is. */
static void passes(void **state)
{
    (void)state;
    struct dh_memory m = words_memory(3);
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    m.by_passes = true;
    void *self = model->start(&m);
    assert_int_equal(candidates_before(self, list), 1);
    end_with_store(self, UINT32_MAX, 9, true);
    assert_false(model->next_pass(self));
    assert_int_equal(candidates_before(self, list), 1);
    end_with_store(self, 0, 7, true);
    assert_int_equal(candidates_before(self, list), 1);
    assert_true(model->next_pass(self));
    assert_false(model->next_pass(self));
    assert_int_equal(candidates_before(self, list), 2);
    assert_true(list[1].is_future && list[1].value == 7 && list[1].thread == 1);
}

/* By chance only of threads that live. */
static void the_living(void **state)
{
    (void)state;
    struct dh_memory m = words_memory(3);
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    void *self = model->start(&m);
    candidates_before(self, list);
    end_with_store(self, 0, 7, true);
    assert_int_equal(candidates_before(self, list), 2);
    model->join(self, 0, 1);
    struct dh_memory_access load = access_at(2, 0);
    assert_int_equal(model->load(self, &load, list, DH_MEMORY_CANDIDATES), 1);
}

/* One that a witness names is taken by its number, wherever it is; it must come there, with that value. */
static void witnessed(void **state)
{
    (void)state;
    struct dh_memory m = words_memory(3);
    struct dh_candidate list[DH_MEMORY_CANDIDATES], named = {.thread = 1, .site = 5, .occurrence = 2, .value = 7};
    void *self = model->start(&m);
    uint32_t index = model->foresee(self, &named);
    struct dh_memory_access load = access_at(2, 0), elsewhere = access_at(1, 2);
    elsewhere.address = 16;
    assert_int_equal(candidates_before(self, list), 1);
    model->took(self, &load, index);
    end_with_store(self, 2, 7, true);
    candidates_before(self, list);
    model->took(self, &load, index);
    end_with_store(self, 2, 8, false);
    candidates_before(self, list);
    model->took(self, &load, index);
    model->store(self, &elsewhere, 7);
    assert_false(model->is_justified(self));
}

int main(void)
{
    model = dh_memory_model_by_name("hbmm");
    const struct CMUnitTest tests[] = {cmocka_unit_test(literature),        cmocka_unit_test(random_programs),
                                       cmocka_unit_test(straight_programs), cmocka_unit_test(passes),
                                       cmocka_unit_test(the_living),        cmocka_unit_test(witnessed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
