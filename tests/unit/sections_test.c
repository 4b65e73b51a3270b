/* Section files: what they mean, what is told of a malformed one, and that printing and reading are inverse. */
#include "event/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool read_text(struct dh_sections *s, struct dh_sections_error *e, const char *text)
{
    return dh_sections_read(s, text, strlen(text), malloc, e);
}

static void release(struct dh_sections *s)
{
    free(s->sections);
    free(s->points);
    free(s->variables);
    free(s->heals);
    free(s->sites);
    free(s->names);
}

static void reads_what_the_paper_has(void **state)
{
    (void)state;
    static const char text[] = "# load and store of the bank's total\n"
                               "section total {\n"
                               "  vars bank_total, \"struct account.balance\";\n"
                               "  entry bank.c:close_day:bank_total:R#1;   // begins here\n"
                               "  end bank.c:close_day:bank_total:W#1 allow R;\n"
                               "  end \"bank.c:f:struct account.balance:W#2\" allow R|W;\n"
                               "  exit bank.c:give_up:bank_total:R#1;\n"
                               "}\n"
                               "section next { vars bank_total; entry bank.c:close_day:bank_total:W#1; end x:1:R; }\n"
                               "heal total by lock group books because 1f3a;\n"
                               "heal next by schedule;\n";
    struct dh_sections s;
    struct dh_sections_error e;
    assert_true(read_text(&s, &e, text));
    assert_int_equal(s.n_sections, 2);
    assert_string_equal(s.sections[0].name, "total");
    assert_int_equal(s.sections[0].line, 2);
    assert_int_equal(s.n_names, 2);
    assert_string_equal(s.names[1], "struct account.balance");
    assert_int_equal(s.n_variables, 3);
    assert_int_equal(s.variables[2].section, 1);
    assert_int_equal(s.variables[2].variable, 0);
    assert_int_equal(s.n_points, 6);
    assert_int_equal(s.points[0].role, DH_SECTION_ENTRY);
    assert_string_equal(s.sites[s.points[0].site], "bank.c:close_day:bank_total:R#1");
    assert_int_equal(s.points[1].allow, DH_ALLOW_READ);
    assert_int_equal(s.points[2].allow, DH_ALLOW_READ | DH_ALLOW_WRITE);
    assert_int_equal(s.points[3].role, DH_SECTION_EXIT);
    /* the end of one section is the entry of the next: one site */
    assert_int_equal(s.points[4].site, s.points[1].site);
    assert_int_equal(s.n_sites, 5);
    assert_int_equal(s.n_heals, 2);
    assert_int_equal(s.heals[0].means, DH_HEAL_LOCK);
    assert_string_equal(s.heals[0].group, "books");
    assert_string_equal(s.heals[0].because, "1f3a");
    assert_null(s.heals[1].group);
    release(&s);
}

static void says_where_and_what(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned line, column;
        const char *words;
    } cases[] = {
        {"sektion a {}", 1, 1, "expected section or heal, found 'sektion'"},
        {"section {", 1, 9, "expected the name of the section, found '{'"},
        {"section a\n  vars x;", 2, 3, "expected '{' behind the name of the section, found 'vars'"},
        {"section a {\n vars x; entry f:1:R; }", 2, 23, "the section ends here; expected 'end' in it"},
        {"section a { entry f:1:R; end f:2:W; }", 1, 37, "the section ends here; expected 'vars' in it"},
        {"section a { vars x; end f:2:W; }", 1, 32, "the section ends here; expected 'entry' in it"},
        {"section a { vars x\n entry f:1:R; }", 2, 2, "expected ',' or ';' behind the variables, found 'entry'"},
        {"section a { vars ; }", 1, 18, "expected the name of a variable, found ';'"},
        {"section a { vars x; entry f:1:R end f:2:W; }", 1, 33, "expected ';' behind the site, found 'end'"},
        {"section a { vars x; entry f:1:R; end f:2:W allow X; }", 1, 50, "expected R or W behind 'allow', found 'X'"},
        {"section a { vars x; entry f:1:R; entry f:2:R; }", 1, 47,
         "a second entry; a section has one entry and any number of ends"},
        {"section a { vars x; entry f:1:R; end f:2:W;", 1, 44,
         "expected vars, entry, end, exit or '}', found the end of the file"},
        {"section a { vars \"x; }", 1, 18,
         "the quotation that begins here is not closed; expected '\"' before the end of the line"},
        {"section a { vars x; entry f:1:R; end f:2:W; }\nsection a {", 2, 9,
         "a second section 'a'; expected a name of its own"},
        {"heal b by lock;", 1, 6, "no section 'b'; expected one that stands above"},
        {"section a { vars x; entry f:1:R; end f:2:W; }\nheal a by magic;", 2, 11,
         "expected lock, schedule or order, found 'magic'"},
        {"section a { vars x; entry f:1:R; end f:2:W; }\nheal a lock;", 2, 8,
         "expected 'by' and lock, schedule or order, found 'lock'"},
        {"section a { vars x; entry f:1:R; end f:2:W; }\nheal a by lock group g", 2, 23,
         "expected group, because or ';', found the end of the file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dh_sections s;
        struct dh_sections_error e;
        assert_false(read_text(&s, &e, cases[i].text));
        assert_string_equal(e.text, cases[i].words);
        assert_int_equal(e.line, cases[i].line);
        assert_int_equal(e.column, cases[i].column);
        release(&s);
    }
}

struct buffer {
    char *at;
    size_t n;
};

static void append(void *arg, const char *text, size_t n)
{
    struct buffer *b = arg;
    b->at = realloc(b->at, b->n + n + 1);
    memcpy(b->at + b->n, text, n);
    b->n += n;
    b->at[b->n] = 0;
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void random_word(struct buffer *b, unsigned *seed)
{
    static const char letters[] = "ab:#.\\\"/ {};|,<>end";
    unsigned n = 1 + next_random(seed) % 6;
    append(b, "\"", 1);
    for (unsigned i = 0; i < n; i++) {
        char c = letters[next_random(seed) % (sizeof letters - 1)];
        if (c == '"' || c == '\\')
            append(b, "\\", 1);
        append(b, &c, 1);
    }
    append(b, "\"", 1);
}

static void add_text(struct buffer *b, const char *text)
{
    append(b, text, strlen(text));
}

static void random_file(struct buffer *b, unsigned *seed)
{
    unsigned n = next_random(seed) % 4;
    static const char *const allow[] = {"", " allow R", " allow W", " allow W,R"};
    for (unsigned i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "section s%u {\nvars ", i);
        add_text(b, name);
        random_word(b, seed);
        for (unsigned k = next_random(seed) % 3; k; k--) {
            add_text(b, next_random(seed) % 2 ? ", " : " ");
            random_word(b, seed);
        }
        add_text(b, "; # a comment\nentry ");
        random_word(b, seed);
        add_text(b, ";");
        for (unsigned k = 1 + next_random(seed) % 3; k; k--) {
            add_text(b, " end ");
            random_word(b, seed);
            add_text(b, allow[next_random(seed) % 4]);
            add_text(b, ";");
        }
        if (next_random(seed) % 2) {
            add_text(b, " exit ");
            random_word(b, seed);
            add_text(b, ";\n");
        }
        add_text(b, "}\n");
        if (next_random(seed) % 2) {
            snprintf(name, sizeof name, "heal s%u by order group ", i);
            add_text(b, name);
            random_word(b, seed);
            add_text(b, ";\n");
        }
    }
}

static bool is_same_point(const struct dh_section_point *a, const struct dh_section_point *b)
{
    return a->section == b->section && a->site == b->site && a->role == b->role && a->allow == b->allow;
}

static void printing_and_reading_are_inverse(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        unsigned seed = round;
        struct buffer written = {0}, once = {0}, twice = {0};
        struct dh_sections s, t;
        struct dh_sections_error e = {0};
        add_text(&written, "");
        random_file(&written, &seed);
        if (!read_text(&s, &e, written.at))
            fail_msg("%u:%u: %s in\n%s", e.line, e.column, e.text, written.at);
        append(&once, "", 0);
        dh_sections_print(&s, append, &once);
        if (!read_text(&t, &e, once.at))
            fail_msg("%u:%u: %s in\n%s", e.line, e.column, e.text, once.at);
        append(&twice, "", 0);
        dh_sections_print(&t, append, &twice);
        assert_string_equal(once.at, twice.at);
        assert_int_equal(s.n_points, t.n_points);
        assert_int_equal(s.n_sites, t.n_sites);
        for (uint32_t i = 0; i < s.n_sites; i++)
            assert_string_equal(s.sites[i], t.sites[i]);
        for (uint32_t i = 0; i < s.n_points; i++)
            assert_true(is_same_point(&s.points[i], &t.points[i]));
        release(&s);
        release(&t);
        free(written.at);
        free(once.at);
        free(twice.at);
    }
}

/* Cut anywhere, it is a mistake or a shorter file, never a crash. */
static void survives_being_cut(void **state)
{
    (void)state;
    static const char text[] = "section a { vars x, \"y z\"; entry f:1:R; end f:2:W allow R|W; }\nheal a by lock;\n";
    for (size_t n = 0; n < sizeof text; n++) {
        char *cut = malloc(n ? n : 1);
        struct dh_sections s;
        struct dh_sections_error e;
        memcpy(cut, text, n);
        dh_sections_read(&s, cut, n, malloc, &e);
        release(&s);
        free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_paper_has),
        cmocka_unit_test(says_where_and_what),
        cmocka_unit_test(printing_and_reading_are_inverse),
        cmocka_unit_test(survives_being_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
