/* Two variables that change together, in functions that are only called inside of a section, and in one that is also
 * called outside: what is held already is not locked again, what is not, is. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 200000 };

static long left, right;

__attribute__((noinline)) static void add_left(long n)
{
    long before = left;
    left = before + n;
}

/* Both from inside and from outside. */
__attribute__((noinline)) static void add_right(long n)
{
    long before = right;
    right = before + n;
}

__attribute__((noinline)) static void move(long n)
{
    add_left(-n);
    add_right(n);
}

static void *mover(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        move(1);
    for (int i = 0; i < ROUNDS; i++)
        add_right(1);
    return unused;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, mover, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%s\n", left == -2 * ROUNDS && right == 4 * ROUNDS ? "ok" : "FAILED");
    return left != -2 * ROUNDS || right != 4 * ROUNDS;
}
