/* Model programs by chance, the same for the same `seed`. */
#ifndef DH_TESTS_SEARCH_CHANCE_H
#define DH_TESTS_SEARCH_CHANCE_H

#include "search_model.h"

#include <string.h>

static uint64_t seed;
static inline int pick(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (unsigned)n);
}

struct writer {
    struct model_line *line;
    int n, room;
};

static inline void put(struct writer *w, int op, int a, int b, int c)
{
    w->line[w->n++] = (struct model_line){(uint8_t)op, (int16_t)a, (int16_t)b, (int16_t)c};
}

static inline void put_access(struct writer *w)
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

static inline void put_section(struct writer *w)
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

static inline void put_other(struct writer *w)
{
    switch (pick(8)) {
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
    case 6:
        put(w, pick(3) ? OP_SEND : OP_RECEIVE, pick(2), 0, 0);
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

static inline void write_program(struct model_program *p, int threads, int pieces)
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

/* Threads that spin until one with a smaller number has set its flag, and set their own. */
static inline void write_spinning_program(struct model_program *p, int threads, int pieces)
{
    memset(p, 0, sizeof *p);
    p->name = "spinning by chance";
    p->threads = (unsigned)threads;
    p->spins = true;
    for (int t = 0; t < threads; t++) {
        struct writer w = {.line = p->line[t]};
        int flag = pick(pieces);
        for (int i = 0; i < pieces; i++) {
            int at = w.n, on = t ? 4 + pick(t) : 0;
            if (t && pick(2)) {
                put(&w, OP_ALOAD, on, 3, 0);
                put(&w, OP_JUMP_IF, 3, 1, at + 4);
                put(&w, OP_YIELD, 0, 0, 0);
                put(&w, OP_JUMP, at, 0, 0);
            } else {
                static const uint8_t ops[] = {OP_READ, OP_WRITE, OP_STORE, OP_ADD, OP_YIELD};
                put(&w, ops[pick(sizeof ops)], pick(2), 1 + pick(2), pick(2));
            }
            if (i == flag)
                put(&w, OP_ASTORE, 4 + t, 1, 0);
        }
    }
}

#endif
