/* litmus_programs N source: every Nth of the litmus programs of tests/unit/memory_programs.h and memory_c11_programs.h,
 * and some made by chance, as one C program. litmus_programs N outcomes MODEL: which outcomes the model's axioms allow,
 * `NUMBER<tab>NAME<tab>OUTCOME...` of each. The program is called with the number of one and a list of outcomes; its
 * exit status is 1 and the place in the list of the one it came to, or 0. Registers are returned by threads, so that
 * nothing but the litmus variables is shared. */
#include "memory_c11_programs.h"
#include "memory_programs.h"

enum { BY_CHANCE = 120, PROGRAMS = LITMUS_ROWS + C11_ROWS + BY_CHANCE, OUTCOMES_MOST = 250 };

static struct program {
    char name[80], text[400];
    struct litmus l;
    bool is_of_c; /* orders mean little to processors */
    bool is_by_chance;
} programs[PROGRAMS];
static unsigned n_programs, n_seen, every;

/* Updates of processors are atomics of C, if relaxed ones. */
static void add(const char *name, const struct litmus *l, bool is_of_c, bool is_by_chance)
{
    if (n_seen++ % every)
        return;
    struct program *p = &programs[n_programs++];
    *p = (struct program){.l = *l, .is_of_c = is_of_c, .is_by_chance = is_by_chance};
    snprintf(p->name, sizeof p->name, "%s", name);
    litmus_print(l, p->text, sizeof p->text);
    for (unsigned t = 0; t < l->threads; t++)
        for (unsigned i = 0; i < l->n[t]; i++) {
            struct litmus_op *o = &p->l.op[t][i];
            if (o->kind >= OP_ADD && o->kind <= OP_CAS && o->order == DH_ORDER_NONE)
                o->order = DH_ORDER_RELAXED;
        }
}

static void add_rows(const struct litmus_row *rows, unsigned n, bool is_of_c)
{
    struct litmus l;
    for (unsigned i = 0; i < n; i++) {
        litmus_parse(&l, rows[i].text, rows[i].final);
        add(rows[i].name, &l, is_of_c, false);
    }
}

static void add_by_chance(void)
{
    static const char *const orders[] = {"0", "0123", "5", "15", "012345", "01"};
    uint64_t seed = 5;
    for (unsigned i = 0; i < BY_CHANCE; i++) {
        char name[32];
        struct litmus l;
        struct litmus_taste taste = {.threads = 3,
                                     .ops = 6,
                                     .variables = 2,
                                     .orders = orders[i % 6],
                                     .updates = i % 4 == 1,
                                     .fences = i % 3 == 1,
                                     .locks = i % 5 == 0,
                                     .dependencies = i % 5 == 1};
        litmus_random(&l, &taste, &seed);
        snprintf(name, sizeof name, "by chance, %u", i);
        add(name, &l, false, true);
    }
}

/* ---- in C ---- */

static const char *const orders[] = {"", "RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST"};
static const char *const failures[] = {"", "RELAXED", "ACQUIRE", "RELAXED", "ACQUIRE", "SEQ_CST"};
static const char names[] = "wxyz";

static void print_store(const struct litmus_op *o)
{
    char value[16];
    if (o->from >= 0)
        snprintf(value, sizeof value, "%c + %d", 'a' + o->from, o->value);
    else
        snprintf(value, sizeof value, "%d", o->value);
    if (o->order)
        printf("    __atomic_store_n(&%c, %s, __ATOMIC_%s);\n", names[o->variable], value, orders[o->order]);
    else
        printf("    %c = %s;\n", names[o->variable], value);
}

static void print_op(const struct litmus_op *o)
{
    char r = (char)('a' + o->to), v = names[o->variable % 4];
    switch (o->kind) {
    case OP_STORE:
        print_store(o);
        break;
    case OP_LOAD:
        if (o->order)
            printf("    %c = __atomic_load_n(&%c, __ATOMIC_%s);\n", r, v, orders[o->order]);
        else
            printf("    %c = %c;\n", r, v);
        break;
    case OP_ADD:
        printf("    %c = __atomic_fetch_add(&%c, %d, __ATOMIC_%s);\n", r, v, o->value, orders[o->order]);
        break;
    case OP_SWAP:
        printf("    %c = __atomic_exchange_n(&%c, %d, __ATOMIC_%s);\n", r, v, o->value, orders[o->order]);
        break;
    case OP_CAS:
        printf("    %c = %d;\n    __atomic_compare_exchange_n(&%c, &%c, %d, 0, __ATOMIC_%s, __ATOMIC_%s);\n", r,
               o->wanted, v, r, o->value, orders[o->order], failures[o->order]);
        break;
    case OP_FENCE:
        printf("    __atomic_thread_fence(__ATOMIC_%s);\n", orders[o->order]);
        break;
    case OP_IF:
        printf("    if (%c != %d)\n        goto out;\n", r, o->value);
        break;
    default:
        printf("    pthread_mutex_%s(&mutex[%d]);\n", o->kind == OP_LOCK ? "lock" : "unlock", o->variable);
    }
}

static bool ends_early(const struct litmus *l, unsigned t)
{
    for (unsigned i = 0; i < l->n[t]; i++)
        if (l->op[t][i].kind == OP_IF)
            return true;
    return false;
}

static bool is_read(const struct litmus_op *o)
{
    return o->kind == OP_LOAD || (o->kind >= OP_ADD && o->kind <= OP_CAS);
}

static void print_thread(const struct litmus *l, unsigned number, unsigned t)
{
    printf("static void *program_%u_%u(void *unused)\n{\n    (void)unused;\n", number, t);
    for (unsigned i = 0; i < l->n[t]; i++)
        if (is_read(&l->op[t][i]))
            printf("    int %c = 0;\n", 'a' + l->op[t][i].to);
    for (unsigned i = 0; i < l->n[t]; i++)
        print_op(&l->op[t][i]);
    printf("%s    return (void *)(0ul", ends_early(l, t) ? "out:\n" : "");
    for (unsigned i = 0; i < l->n[t]; i++)
        if (is_read(&l->op[t][i]))
            printf(" | (unsigned long)%c << %d", 'a' + l->op[t][i].to, 4 * l->op[t][i].to);
    printf(");\n}\n");
}

static void print_program(const struct program *p, unsigned number)
{
    const struct litmus l = p->l;
    unsigned registers = 0, finals = 0;
    printf("\n/* %s: %s */\n", p->name, p->text);
    for (unsigned t = 0; t < l.threads; t++)
        print_thread(&l, number, t);
    for (unsigned i = 0; i < LITMUS_REGISTERS; i++)
        registers |= l.register_used[i] ? 1u << i : 0;
    for (unsigned i = 0; i < LITMUS_VARIABLES; i++)
        finals |= l.final[i] ? 1u << i : 0;
    printf("#define PROGRAM_%u {%u, %#x, %#x, {", number, l.threads, registers, finals);
    for (unsigned t = 0; t < l.threads; t++)
        printf("program_%u_%u%s", number, t, t + 1 < l.threads ? ", " : "}}\n");
}

static const char head[] =
    "#include <pthread.h>\n#include <stdlib.h>\n\n"
    "static int w __attribute__((aligned(64))), x __attribute__((aligned(64))),\n"
    "    y __attribute__((aligned(64))), z __attribute__((aligned(64)));\n"
    "static pthread_mutex_t mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};\n";

static const char tail[] =
    "};\n\n"
    "__attribute__((noinline)) static unsigned long read_finals(unsigned finals, unsigned long outcome)\n"
    "{\n"
    "    if (finals & 1)\n        outcome = outcome << 4 | (unsigned long)w;\n"
    "    if (finals & 2)\n        outcome = outcome << 4 | (unsigned long)x;\n"
    "    if (finals & 4)\n        outcome = outcome << 4 | (unsigned long)y;\n"
    "    if (finals & 8)\n        outcome = outcome << 4 | (unsigned long)z;\n"
    "    return outcome;\n"
    "}\n\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    const struct program *p = &programs[atoi(argv[1])];\n"
    "    unsigned long registers = 0, outcome = 0, list[256];\n"
    "    pthread_t thread[4];\n"
    "    for (int i = 2; i < argc; i++)\n        list[i] = strtoul(argv[i], NULL, 16);\n"
    "    for (unsigned i = 0; i < p->threads; i++)\n"
    "        pthread_create(&thread[i], NULL, p->thread[i], NULL);\n"
    "    for (unsigned i = 0; i < p->threads; i++) {\n"
    "        void *result;\n"
    "        pthread_join(thread[i], &result);\n"
    "        registers |= (unsigned long)result;\n"
    "    }\n"
    "    for (int i = 0; i < 10; i++)\n        if (p->registers >> i & 1)\n"
    "            outcome = outcome << 4 | (registers >> 4 * i & 15);\n"
    "    outcome = read_finals(p->finals, outcome);\n"
    "    for (int i = 2; i < argc; i++)\n        if (list[i] == outcome)\n"
    "            return i - 1;\n"
    "    return 0;\n"
    "}\n";

static void print_source(void)
{
    printf("%s", head);
    for (unsigned i = 0; i < n_programs; i++)
        print_program(&programs[i], i);
    printf(
        "\nstatic const struct program {\n    unsigned threads, registers, finals;\n    void *(*thread[4])(void *);\n"
        "} programs[] = {\n");
    for (unsigned i = 0; i < n_programs; i++)
        printf("    PROGRAM_%u,\n", i);
    printf("%s", tail);
}

/* ---- what is allowed ---- */

static void axioms_of(const char *model, const struct litmus *l, struct outcomes *out)
{
    static const char *const axiomatic[] = {"sc", "tso", "pso", "c11"};
    for (unsigned i = 0; i < 4; i++)
        if (!strcmp(axiomatic[i], model))
            oracle_axiomatic((enum oracle_axioms)(ORACLE_SC + i), l, out);
    if (!strcmp(model, "hb"))
        oracle_progressive(l, out);
    if (!strcmp(model, "hbmm"))
        oracle_hbmm(l, out);
}

/* Of C's own only RC11 has something to say; the definition of hbmm is of plain programs. */
static bool concerns(const char *model, const struct program *p)
{
    if (!strcmp(model, "hbmm") && p->is_by_chance)
        for (unsigned t = 0; t < p->l.threads; t++)
            for (unsigned i = 0; i < p->l.n[t]; i++)
                if (p->l.op[t][i].order)
                    return false;
    return !p->is_of_c || !strcmp(model, "c11");
}

static void print_outcomes(const char *model)
{
    static struct outcomes out;
    for (unsigned i = 0; i < n_programs; i++) {
        if (!concerns(model, &programs[i]))
            continue;
        out.n = 0;
        axioms_of(model, &programs[i].l, &out);
        if (out.n > OUTCOMES_MOST)
            continue; /* more than exit statuses */
        printf("%u\t%s\t", i, programs[i].name);
        for (unsigned k = 0; k < out.n; k++)
            printf("%s%llx", k ? " " : "", (unsigned long long)out.at[k]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    every = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (!every)
        return fprintf(stderr, "usage: litmus_programs N source | N outcomes MODEL\n"), 2;
    add_rows(litmus_rows, LITMUS_ROWS, false);
    add_rows(c11_rows, C11_ROWS, true);
    add_by_chance();
    if (!strcmp(argv[2], "source"))
        print_source();
    else if (argc == 4)
        print_outcomes(argv[3]);
    return 0;
}
