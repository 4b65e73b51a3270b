// makecontext/swapcontext: two coroutines on own stacks in one thread, then again in another thread.
// FLAGS: -pthread
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

struct pair {
    ucontext_t main, left, right;
    char trace[64];
    int at;
};
static _Thread_local struct pair *current;

static __attribute__((noinline)) void step(struct pair *p, char c, int n)
{
    if (n)
        step(p, c, n - 1);
    else
        p->trace[p->at++] = c;
}
static void left(void)
{
    struct pair *p = current;
    for (int i = 0; i < 5; i++) {
        step(p, (char)('a' + i), i);
        swapcontext(&p->left, &p->right);
    }
}
static void right(void)
{
    struct pair *p = current;
    for (int i = 0; i < 5; i++) {
        step(p, (char)('A' + i), 5 - i);
        swapcontext(&p->right, &p->left);
    }
}
static void *play(void *arg)
{
    struct pair *p = calloc(1, sizeof *p);
    char *stacks = malloc(2 * 65536);
    current = p;
    getcontext(&p->left);
    p->left.uc_stack.ss_sp = stacks;
    p->left.uc_stack.ss_size = 65536;
    p->left.uc_link = &p->main;
    makecontext(&p->left, left, 0);
    getcontext(&p->right);
    p->right.uc_stack.ss_sp = stacks + 65536;
    p->right.uc_stack.ss_size = 65536;
    p->right.uc_link = &p->main;
    makecontext(&p->right, right, 0);
    swapcontext(&p->main, &p->left);
    printf("%s %s\n", (char *)arg, p->trace);
    free(stacks);
    free(p);
    return NULL;
}

int main(void)
{
    pthread_t t;
    play("main");
    pthread_create(&t, NULL, play, "thread");
    pthread_join(t, NULL);
    return 0;
}
