/* One part of the program is not instrumented, and comes to a variable that is healed; another variable is its own. */
#include <pthread.h>
#include <stdio.h>

long total;
static long own;
void native_add(void);

static void *adder(void *unused)
{
    long before = total, mine = own;
    total = before + 1;
    own = mine + 1;
    native_add();
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, adder, NULL);
    adder(NULL);
    pthread_join(t, NULL);
    printf("%ld %ld\n", total, own);
    return 0;
}
