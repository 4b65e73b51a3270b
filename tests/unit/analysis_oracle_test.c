/* No access that the analyses call safe ever takes part in a race of a run: random programs, random schedules. */
#include "analysis_analysed.h"
#include "analysis_machine.h"

static bool is_expected(const struct analysed *a, const struct machine_race *r)
{
    const struct dh_symex *w = &a->symex;
    for (size_t n = 0; n < w->events.n; n++)
        for (size_t k = 0; k < w->events.n; k++)
            if (w->events.at[n].inst == r->first && w->events.at[k].inst == r->second &&
                w->events.at[n].node == w->events.at[k].node && a->conflicts.unsafe[n] && a->conflicts.unsafe[k])
                return true;
    return false;
}

static void tell(const struct analysed *a, const struct machine_race *r, const char *text)
{
    struct dh_str first = {0}, second = {0};
    dh_inst_print(&a->program, &a->program.insts.at[r->first], &first);
    dh_inst_print(&a->program, &a->program.insts.at[r->second], &second);
    fprintf(stderr, "%s\n", text); /* longer than a message may be */
    fail_msg("called safe, but raced: #%u %s against #%u %s", r->first, first.at, r->second, second.at);
}

static unsigned long check_program(uint64_t seed, unsigned *stuck)
{
    enum { RUNS = 12 };
    struct chance c = {seed * 2654435761u + 12345};
    struct dh_str text = {0};
    struct analysed a;
    random_program(&c, &text);
    analyse(&a, text.at);
    unsigned long races = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct machine m = {0};
        machine_run(&m, &a.program, &c);
        *stuck += m.stuck;
        races += m.races.n;
        for (size_t n = 0; n < m.races.n; n++)
            if (!is_expected(&a, &m.races.at[n]))
                tell(&a, &m.races.at[n], text.at);
        machine_release(&m);
    }
    forget(&a);
    dh_str_release(&text);
    return races;
}

static void races_are_expected(void **state)
{
    enum { PROGRAMS = 400 };
    unsigned long races = 0;
    unsigned stuck = 0;
    (void)state;
    for (unsigned n = 1; n <= PROGRAMS; n++)
        races += check_program(n, &stuck);
    /* A machine that never ends or never races would prove nothing. */
    assert_true(races > PROGRAMS);
    assert_true(stuck < PROGRAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(races_are_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
