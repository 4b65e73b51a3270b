/* Two clerks write into the ledger of a library, and into their own. */
#include <pthread.h>
#include <stdio.h>

long ledger_add(void);
static long written;

static void *clerk(void *unused)
{
    for (int i = 0; i < 50000; i++) {
        ledger_add();
        long before = written;
        written = before + 1;
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, clerk, NULL);
    pthread_create(&b, NULL, clerk, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts(written == 100000 && ledger_add() == 100000 ? "ok" : "FAILED");
    return 0;
}
