/* Accesses that optimisation merges, hoists, sinks, splits or hands to other functions. Two threads run every case
 * without any order between them, so each variable that is marked is raced on, and no other, and the report must name
 * it at a marked line. A line ends with RACE: variable@object; ..., where object is the global it is in, or heap. */
#include <pthread.h>
#include <stdlib.h>

#define CASE __attribute__((noinline))

struct account {
    int id, balance, limit;
    long total;
};

struct node {
    struct node *next, *prev;
    int value;
};

struct list {
    struct node *head, *tail;
    long length;
};

struct pair {
    long first, second, third;
};

struct account *account; /* heap */
struct list *list;       /* heap */
int visits, attempts, failures;
struct account hoisted, sunk, picked, cased, promoted, redone;
struct pair copied, handed, split, calm;
long sums[8], plain[8];
struct limits {
    int low, high;
} limits;
volatile int zero, one = 1, rounds = 10;

static inline int clamp(int v)
{
    if (v < limits.low)    // RACE: limits.low@limits
        return limits.low; // RACE: limits.low@limits
    return v > limits.high // RACE: limits.high@limits
               ? limits.high
               : v; // RACE: limits.high@limits
}

/* A loop keeps the member in a register: one load before it, one store after it. */
CASE void loop(int n)
{
    for (int i = 0; i < n; i++)
        account->balance += 5; // RACE: struct account.balance@heap
    visits++;                  // RACE: visits@visits
}

/* Two of the same type in one loop. */
CASE void loop_of_two(int n)
{
    for (int i = 0; i < n; i++) {
        promoted.balance += i; // RACE: promoted.balance@promoted
        promoted.limit -= i;   // RACE: promoted.limit@promoted
    }
    attempts++; // RACE: attempts@attempts
}

/* Read on both ways: once before. */
CASE int read_both_ways(int way)
{
    int v;
    if (way)
        v = hoisted.balance + 1; // RACE: hoisted.balance@hoisted
    else
        v = hoisted.balance * 3; // RACE: hoisted.balance@hoisted
    return v + hoisted.limit;    // RACE: hoisted.limit@hoisted
}

/* Written on both ways: once after. */
CASE void write_both_ways(int way)
{
    if (way) {
        sunk.limit = 4;   // RACE: sunk.limit@sunk
        sunk.balance = 1; // RACE: sunk.balance@sunk
    } else {
        sunk.limit = 5;   // RACE: sunk.limit@sunk
        sunk.balance = 2; // RACE: sunk.balance@sunk
    }
}

/* Different members on each way: one store whose address is computed. */
CASE void write_either(int way, struct list *l, struct node *n)
{
    if (way)
        l->head = n; // RACE: struct list.head@heap
    else
        l->tail = n; // RACE: struct list.tail@heap
}

CASE int read_either(int way)
{
    return way ? picked.balance // RACE: picked.balance@picked
               : picked.limit;  // RACE: picked.limit@picked
}

/* One thread writes the member that is not read: both must not be read. */
CASE long peek(int way)
{
    return way ? calm.first : calm.third;
}

/* Objects of different types. */
CASE void link_in(struct node *after, struct list *l, struct node *n)
{
    if (after)
        after->next = n; // RACE: struct node.next@heap
    else
        l->head = n; // RACE: struct list.head@heap
    l->length++;     // RACE: struct list.length@heap
}

CASE void cases(int which)
{
    switch (which) {
    case 0:
        cased.balance = 10; // RACE: cased.balance@cased
        break;
    case 1:
        cased.balance = 20; // RACE: cased.balance@cased
        break;
    case 2:
        cased.balance = 30; // RACE: cased.balance@cased
        break;
    default:
        cased.limit = 40; // RACE: cased.limit@cased
    }
}

/* Read again where only one of the ways has read it before. */
CASE int partly_known(int way)
{
    int v = 0;
    if (way)
        v = redone.balance; // RACE: redone.balance@redone
    else
        failures++;            // RACE: failures@failures
    return v + redone.balance; // RACE: redone.balance@redone
}

CASE long inlined(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += clamp(i * 7);
    return sum;
}

/* The callee is given the values instead of the pointer. */
static CASE long by_pointer(struct pair *p, int n)
{
    return p->first + n * p->second; // RACE: struct pair.first@handed; struct pair.second@handed
}

CASE long hand_over(int n)
{
    return by_pointer(&handed, n) - by_pointer(&handed, n + 1);
}

CASE void copy(struct pair *from)
{
    struct pair p = *from;
    p.second++;
    copied = p; // RACE: copied.first@copied; copied.second@copied; copied.third@copied
}

CASE void reset(void)
{
    split.first = 0; // RACE: split.first@split
    plain[0]++;      // RACE: plain[]@plain
    split.third = 0; // RACE: split.third@split
}

CASE void accumulate(int n)
{
    for (int i = 0; i < n; i++)
        sums[3] += plain[i & 7]; // RACE: sums[]@sums; plain[]@plain
}

_Thread_local volatile long sink;

/* What nobody else could see would be split, or not written at all. */
void *volatile kept[] = {&account, &list,  &hoisted, &sunk,   &picked, &cased, &promoted, &redone,   &copied,
                         &handed,  &split, &calm,    &limits, sums,    plain,  &visits,   &attempts, &failures};

static void *run(void *argument)
{
    struct pair mine = {1, 2, 3};
    struct node *node = argument;
    loop(rounds);
    loop_of_two(rounds);
    sink = read_both_ways(one) + read_both_ways(zero);
    hoisted.balance = one; // RACE: hoisted.balance@hoisted
    hoisted.limit = one;   // RACE: hoisted.limit@hoisted
    write_both_ways(one);
    write_both_ways(zero);
    write_either(one, list, node);
    write_either(zero, list, node);
    sink = read_either(one) + read_either(zero);
    sink = peek(one);
    picked.balance = one;            // RACE: picked.balance@picked
    picked.limit = one;              // RACE: picked.limit@picked
    link_in(list->head, list, node); // RACE: struct list.head@heap
    cases(zero);
    cases(one);
    cases(rounds);
    sink = partly_known(one) + partly_known(zero);
    redone.balance = one; // RACE: redone.balance@redone
    sink = inlined(rounds);
    limits.low = one;     // RACE: limits.low@limits
    limits.high = rounds; // RACE: limits.high@limits
    sink = hand_over(rounds);
    handed.first = one;  // RACE: handed.first@handed
    handed.second = one; // RACE: handed.second@handed
    copy(&mine);
    reset();
    accumulate(rounds);
    return NULL;
}

static void *run_second(void *argument)
{
    calm.third = one;
    return run(argument);
}

int main(void)
{
    pthread_t a, b;
    account = calloc(1, sizeof *account);
    list = calloc(1, sizeof *list);
    struct node *node = calloc(1, sizeof *node);
    pthread_create(&a, NULL, run, node);
    pthread_create(&b, NULL, run_second, node);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return kept[zero] == NULL;
}
