/* A shared stack of work after von Praun, Program 2.4: push and pop are atomic, size() reads `top` without the lock.
 * Workers count the solutions of the N queens problem. Partial boards are shared through the stack as long as it is
 * short; size() is only the hint by which a worker decides whether to share a board or to search below it itself.
 * Whatever value the race gives, the hint is a hint: push and pop look at `top` again under the lock. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_WORKERS 64
#define MAX_QUEENS 16
#define CAPACITY 256
#define SHORT_STACK 32

/* A board is the rows that are filled and what the queens on them attack in the next row. */
struct board {
    int row;
    unsigned columns, left, right;
};

struct stack {
    pthread_mutex_t lock;
    int top;
    struct board *arr[CAPACITY];
};

static struct stack *work;
static int queens;
static atomic_long unsolved; /* boards that are on the stack or in the hands of a worker */
static atomic_long solutions;

static int stack_size(struct stack *s)
{
#ifdef FIXED
    pthread_mutex_lock(&s->lock);
    int size = s->top;
    pthread_mutex_unlock(&s->lock);
    return size;
#else
    return s->top;
#endif
}

static bool stack_push(struct stack *s, struct board *b)
{
    pthread_mutex_lock(&s->lock);
    bool room = s->top < CAPACITY;
    if (room)
        s->arr[s->top++] = b;
    pthread_mutex_unlock(&s->lock);
    return room;
}

static struct board *stack_pop(struct stack *s)
{
    struct board *b = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->top > 0)
        b = s->arr[--s->top];
    pthread_mutex_unlock(&s->lock);
    return b;
}

static struct board with_queen(const struct board *b, unsigned column)
{
    return (struct board){b->row + 1, b->columns | column, (b->left | column) << 1, (b->right | column) >> 1};
}

static unsigned free_columns(const struct board *b)
{
    return ~(b->columns | b->left | b->right) & ((1u << queens) - 1);
}

static long search_below(const struct board *b)
{
    if (b->row == queens)
        return 1;
    long found = 0;
    for (unsigned open = free_columns(b); open; open &= open - 1) {
        struct board next = with_queen(b, open & -open);
        found += search_below(&next);
    }
    return found;
}

static bool share(const struct board *b)
{
    struct board *copy = malloc(sizeof *copy);
    if (!copy)
        return false;
    *copy = *b;
    atomic_fetch_add(&unsolved, 1);
    if (stack_push(work, copy))
        return true;
    atomic_fetch_sub(&unsolved, 1);
    free(copy);
    return false;
}

static long solve(const struct board *b)
{
    if (b->row == queens)
        return 1;
    long found = 0;
    for (unsigned open = free_columns(b); open; open &= open - 1) {
        struct board next = with_queen(b, open & -open);
        if (stack_size(work) < SHORT_STACK && share(&next))
            continue;
        found += search_below(&next);
    }
    return found;
}

static void *worker_run(void *arg)
{
    (void)arg;
    while (atomic_load(&unsolved) > 0) {
        struct board *b = stack_pop(work);
        if (!b) {
            sched_yield(); /* the others still hold boards and may share some */
            continue;
        }
        atomic_fetch_add(&solutions, solve(b));
        free(b);
        atomic_fetch_sub(&unsolved, 1);
    }
    return NULL;
}

static void count_in_parallel(int workers)
{
    pthread_t crew[MAX_WORKERS];
    struct board empty = {0, 0, 0, 0};
    if (!share(&empty))
        exit(2);
    for (int w = 0; w < workers; w++)
        if (pthread_create(&crew[w], NULL, worker_run, NULL))
            exit(2);
    for (int w = 0; w < workers; w++)
        pthread_join(crew[w], NULL);
}

static int check(void)
{
    static const long known[MAX_QUEENS + 1] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                               352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
    long found = atomic_load(&solutions);
    int left = stack_size(work);
    if (found != known[queens] || left != 0) {
        printf("FAILED: %ld solutions for %d queens, %d boards left\n", found, queens, left);
        return 1;
    }
    printf("ok\n");
    return 0;
}

int main(int argc, char **argv)
{
    int workers = 2, option;
    queens = 8;
    while ((option = getopt(argc, argv, "t:n:h")) != -1) {
        if (option == 't')
            workers = atoi(optarg);
        else if (option == 'n')
            queens = atoi(optarg);
        else {
            printf("usage: stack [-t workers (1..%d)] [-n queens (1..%d)]\n", MAX_WORKERS, MAX_QUEENS);
            return option == 'h' ? 0 : 2;
        }
    }
    if (workers < 1 || workers > MAX_WORKERS || queens < 1 || queens > MAX_QUEENS)
        return fprintf(stderr, "stack: bad number of workers or queens\n"), 2;
    work = calloc(1, sizeof *work);
    if (!work)
        return 2;
    pthread_mutex_init(&work->lock, NULL);
    count_in_parallel(workers);
    int status = check();
    pthread_mutex_destroy(&work->lock);
    free(work);
    return status;
}
