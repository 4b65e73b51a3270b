#include "analysis_programs.h"

#include <stdio.h>

unsigned chance_below(struct chance *c, unsigned n)
{
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((c->state >> 33) % n);
}

enum { POINTERS_MAX = 8, OBJECT = 32 };

/* A function being written. Objects are a lock, two data and a pointer to another object, 8 bytes each. */
struct body {
    struct chance *c;
    struct dh_str *out;
    unsigned next;                   /* register */
    char pointers[POINTERS_MAX][16]; /* values that point to objects */
    unsigned n_pointers;
    unsigned depth;
    char held[16]; /* the lock at depth 1 */
    bool may_call;
};

static const char *some_pointer(struct body *b)
{
    return b->pointers[chance_below(b->c, b->n_pointers)];
}

static void keep_pointer(struct body *b, const char *name)
{
    unsigned at = b->n_pointers < POINTERS_MAX ? b->n_pointers++ : chance_below(b->c, POINTERS_MAX);
    snprintf(b->pointers[at], sizeof b->pointers[at], "%s", name);
}

static void access_at(struct body *b, const char *address, const char *order)
{
    if (chance_below(b->c, 2))
        dh_str_addf(b->out, "    r%u:d = load %s size=8%s\n", b->next++, address, order);
    else
        dh_str_addf(b->out, "    store %s %u size=8%s\n", address, chance_below(b->c, 3), order);
}

static void say_global(struct body *b)
{
    char at[32];
    snprintf(at, sizeof at, "&g%u+8", chance_below(b->c, 2));
    access_at(b, at, "");
}

static void say_atomic(struct body *b)
{
    access_at(b, "&flag", " order=seq_cst");
}

static void say_member(struct body *b)
{
    char at[16];
    dh_str_addf(b->out, "    r%u:p = offset %s offset=%u\n", b->next, some_pointer(b), 8 + 8 * chance_below(b->c, 2));
    snprintf(at, sizeof at, "r%u", b->next++);
    access_at(b, at, "");
}

static void say_element(struct body *b)
{
    char at[16];
    dh_str_addf(b->out, "    r%u:d = load &g0+8 size=8\n", b->next);
    dh_str_addf(b->out, "    r%u:d = binary r%u 7 op=and\n", b->next + 1, b->next);
    dh_str_addf(b->out, "    r%u:p = index &array r%u size=8 count=8 bounded\n", b->next + 2, b->next + 1);
    snprintf(at, sizeof at, "r%u", b->next + 2);
    b->next += 3;
    access_at(b, chance_below(b->c, 3) ? at : "&array+16", "");
}

static const char *some_order(struct body *b)
{
    return chance_below(b->c, 3) ? "" : " order=seq_cst";
}

static void say_fetch(struct body *b)
{
    char name[16];
    dh_str_addf(b->out, "    r%u:p = load &p%u size=8%s\n", b->next, chance_below(b->c, 2), some_order(b));
    snprintf(name, sizeof name, "r%u", b->next++);
    keep_pointer(b, name);
}

static void say_publish(struct body *b)
{
    dh_str_addf(b->out, "    store &p%u %s size=8%s\n", chance_below(b->c, 2), some_pointer(b), some_order(b));
}

static void say_new(struct body *b)
{
    char name[16];
    if (b->may_call && chance_below(b->c, 2))
        dh_str_addf(b->out, "    r%u:p = call @make\n", b->next);
    else
        dh_str_addf(b->out, "    r%u:p = alloc %u size=%u zeroed\n", b->next, OBJECT, OBJECT);
    snprintf(name, sizeof name, "r%u", b->next++);
    keep_pointer(b, name);
    dh_str_addf(b->out, "    r%u:p = offset %s offset=8\n", b->next, name);
    dh_str_addf(b->out, "    store r%u 1 size=8\n", b->next++);
    dh_str_addf(b->out, "    r%u:p = offset %s offset=24\n", b->next, name);
    dh_str_addf(b->out, "    store r%u %s size=8\n", b->next++, some_pointer(b));
}

static void say_link(struct body *b)
{
    dh_str_addf(b->out, "    r%u:p = offset %s offset=24\n", b->next, some_pointer(b));
    dh_str_addf(b->out, "    store r%u %s size=8\n", b->next++, some_pointer(b));
}

static void say_follow(struct body *b)
{
    char name[16];
    dh_str_addf(b->out, "    r%u:p = offset %s offset=24\n", b->next, some_pointer(b));
    dh_str_addf(b->out, "    r%u:p = load r%u size=8\n", b->next + 1, b->next);
    snprintf(name, sizeof name, "r%u", b->next + 1);
    b->next += 2;
    keep_pointer(b, name);
}

static void say_call(struct body *b)
{
    if (!b->may_call)
        return;
    if (chance_below(b->c, 2)) {
        dh_str_addf(b->out, "    call @touch%u %s %s\n", chance_below(b->c, 2), some_pointer(b), some_pointer(b));
        return;
    }
    dh_str_addf(b->out, "    r%u:p = load &table+%u size=8\n", b->next, 8 * chance_below(b->c, 2));
    dh_str_addf(b->out, "    call r%u %s %s\n", b->next++, some_pointer(b), some_pointer(b));
}

static void say_some(struct body *b, unsigned n);

/* Never two locks at once: no run ends in a deadlock. */
static void say_locked(struct body *b)
{
    char lock[16];
    if (b->depth)
        return;
    snprintf(lock, sizeof lock, "%s", chance_below(b->c, 2) ? some_pointer(b) : chance_below(b->c, 2) ? "&m0" : "&m1");
    bool wrapped = b->may_call && chance_below(b->c, 2), calls = b->may_call;
    dh_str_addf(b->out, wrapped ? "    call @lock_it %s\n" : "    lock %s\n", lock);
    snprintf(b->held, sizeof b->held, "%s", lock);
    b->depth++;
    b->may_call = false;
    say_some(b, 1 + chance_below(b->c, 3));
    b->may_call = calls;
    b->depth--;
    dh_str_addf(b->out, wrapped ? "    call @unlock_it %s\n" : "    unlock %s\n", lock);
}

/* The lock that is held once more: it counts. */
static void say_again(struct body *b)
{
    if (b->depth != 1)
        return;
    bool wrapped = chance_below(b->c, 2);
    dh_str_addf(b->out, wrapped ? "    call @lock_it %s\n" : "    lock %s\n", b->held);
    b->depth++;
    say_some(b, chance_below(b->c, 2));
    b->depth--;
    dh_str_addf(b->out, wrapped ? "    call @unlock_it %s\n" : "    unlock %s\n", b->held);
}

/* Rows of two cells and a sum. */
static void say_row(struct body *b)
{
    char at[16];
    unsigned i = b->next;
    b->next += 5;
    dh_str_addf(b->out, "    r%u:d = load &g0+8 size=8\n    r%u:d = binary r%u 1 op=and\n", i, i + 1, i);
    dh_str_addf(b->out, "    r%u:p = index &rows r%u size=24 count=2 bounded\n", i + 2, i + 1);
    if (chance_below(b->c, 2))
        dh_str_addf(b->out, "    r%u:p = index r%u r%u size=8 count=2 bounded\n", i + 3, i + 2, i + 1);
    else
        dh_str_addf(b->out, "    r%u:p = offset r%u offset=16\n", i + 3, i + 2);
    snprintf(at, sizeof at, "r%u", i + 3);
    access_at(b, chance_below(b->c, 4) ? at : "&rows+40", "");
}

static void say_some(struct body *b, unsigned n)
{
    static void (*const ways[])(struct body *) = {
        say_global, say_member, say_member, say_element, say_fetch,  say_publish, say_new,   say_call,
        say_locked, say_locked, say_atomic, say_link,    say_follow, say_again,   say_again, say_row};
    for (unsigned k = 0; k < n; k++)
        ways[chance_below(b->c, sizeof ways / sizeof *ways)](b);
}

static struct body open_function(struct chance *c, struct dh_str *out, const char *head, unsigned params)
{
    struct body b = {.c = c, .out = out, .next = params};
    dh_str_addf(out, "\nfunction %s\nb0\n", head);
    for (unsigned k = 0; k < params; k++) {
        char name[16];
        snprintf(name, sizeof name, "r%u", k);
        keep_pointer(&b, name);
    }
    return b;
}

static void write_helpers(struct chance *c, struct dh_str *out)
{
    dh_str_add(out, "\nfunction lock_it r0:p\nb0\n    lock r0\n    return\n");
    dh_str_add(out, "\nfunction unlock_it r0:p\nb0\n    unlock r0\n    return\n");
    dh_str_addf(out,
                "\nfunction make\nb0\n    r0:p = alloc %u size=%u zeroed\n"
                "    r1:p = offset r0 offset=24\n    store r1 r0 size=8\n    return r0\n",
                OBJECT, OBJECT);
    for (unsigned k = 0; k < 2; k++) {
        char head[40];
        snprintf(head, sizeof head, "touch%u r0:p r1:p address-taken", k);
        struct body b = open_function(c, out, head, 2);
        say_some(&b, 1 + chance_below(c, 4));
        dh_str_add(out, "    return\n");
    }
}

static void write_worker(struct chance *c, struct dh_str *out, unsigned number)
{
    char head[40];
    snprintf(head, sizeof head, "worker%u r0:p address-taken", number);
    struct body b = open_function(c, out, head, 1);
    b.may_call = true;
    say_some(&b, 2 + chance_below(c, 6));
    dh_str_add(out, "    return\n");
}

/* Two threads, each with a handle of its own. */
static void write_single_starts(struct body *b)
{
    unsigned handles[2];
    for (unsigned k = 0; k < 2; k++) {
        handles[k] = b->next;
        dh_str_addf(b->out, "    r%u:p = slot size=8\n", b->next++);
    }
    say_some(b, chance_below(b->c, 4));
    for (unsigned k = 0; k < 2; k++) {
        dh_str_addf(b->out, "    create r%u @worker%u %s\n", handles[k], chance_below(b->c, 2), some_pointer(b));
        say_some(b, chance_below(b->c, 3));
    }
    for (unsigned k = 0; k < 2; k++) {
        if (chance_below(b->c, 3)) {
            dh_str_addf(b->out, "    r%u:w = load r%u size=8\n", b->next, handles[k]);
            dh_str_addf(b->out, "    join r%u\n", b->next++);
        }
        say_some(b, chance_below(b->c, 3));
    }
    dh_str_add(b->out, "    return\n");
}

/* Handles of three threads in the elements that they are given; data in the middle of an element. */
static void write_loop(struct body *b, unsigned head, bool join, unsigned after)
{
    unsigned i = b->next, test = i + 1, step = i + 2, at = i + 3;
    b->next += 5;
    dh_str_addf(b->out, "    jump\nb%u -> b%u b%u\n", head, head + 1, after);
    dh_str_addf(b->out, "    r%u:d = phi 0 b%u r%u b%u\n", i, head - 1, step, head + 1);
    dh_str_addf(b->out, "    r%u:d = compare r%u %u op=lt\n    branch r%u\n", test, i,
                join && !chance_below(b->c, 4) ? 2 : 3, test);
    dh_str_addf(b->out, "b%u -> b%u\n    r%u:p = index r0 r%u size=%u\n", head + 1, head, at, i, OBJECT);
    char element[16];
    snprintf(element, sizeof element, "r%u", at);
    struct body inner = *b;
    inner.n_pointers = 0;
    keep_pointer(&inner, element);
    if (!join) {
        dh_str_addf(b->out, "    r%u:p = offset %s offset=24\n", inner.next, element);
        dh_str_addf(b->out, "    store r%u &o0 size=8\n", inner.next++);
    }
    say_some(&inner, chance_below(b->c, 3));
    if (join)
        dh_str_addf(b->out, "    r%u:w = load r%u size=8\n    join r%u\n", i + 4, at, i + 4);
    else
        dh_str_addf(b->out, "    create r%u @worker0 r%u\n", at, at);
    say_some(&inner, chance_below(b->c, 3));
    b->next = inner.next;
    dh_str_addf(b->out, "    r%u:d = binary r%u 1 op=add\n    jump\n", step, i);
}

static void write_loops(struct body *b)
{
    dh_str_addf(b->out, "    r0:p = alloc %u size=%u zeroed\n", 3 * OBJECT, 3 * OBJECT);
    say_some(b, chance_below(b->c, 3));
    write_loop(b, 1, false, 3);
    dh_str_add(b->out, "b3 -> b4\n");
    say_some(b, chance_below(b->c, 2));
    write_loop(b, 4, true, 6);
    dh_str_add(b->out, "b6\n");
    say_some(b, chance_below(b->c, 3));
    dh_str_add(b->out, "    return\n");
}

static void write_main(struct chance *c, struct dh_str *out)
{
    bool loops = chance_below(c, 2);
    dh_str_addf(out, "\nfunction main\nb0%s\n", loops ? " -> b1" : "");
    struct body b = {.c = c, .out = out, .next = 1, .may_call = true};
    keep_pointer(&b, "&o0");
    keep_pointer(&b, "&o1");
    if (loops)
        write_loops(&b);
    else
        write_single_starts(&b);
}

void random_program(struct chance *c, struct dh_str *out)
{
    dh_str_add(out, "program 1\nglobal g0 size=16\nglobal g1 size=16\nglobal o0 size=32\ninitial 24 &o1\nglobal o1 "
                    "size=32\ninitial 24 &o0\n"
                    "global table size=16 constant\ninitial 0 @touch0\ninitial 8 @touch1\nglobal p0 size=8\ninitial 0 "
                    "&o0\nglobal p1 size=8\ninitial 0 &o1\n"
                    "global m0 size=8\nglobal m1 size=8\nglobal array size=64\nglobal rows size=48\nglobal flag "
                    "size=8\nroot main @main\n");
    write_helpers(c, out);
    write_worker(c, out, 0);
    write_worker(c, out, 1);
    write_main(c, out);
}
