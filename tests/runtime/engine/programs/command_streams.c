/* What popen starts lives: one command writes, one reads, each is run once, and every schedule sees what came of it.
 * before: rm -f ran got
 * drive: --schedules=100
 * expect: ends: assertion 100$
 * after: test "$(cat ran)" = once && test "$(cat got)" = "seven 7"
 * replay: found assertion */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char line[64];
static int ended;

static void *reads(void *a)
{
    FILE *from = popen("echo once >>ran; sleep 0.1; echo 'seven 7'; exit 4", "r");
    char rest[8];
    if (!fgets(line, sizeof line, from) || fgets(rest, sizeof rest, from))
        exit(1);
    ended = pclose(from);
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, reads, 0);
    pthread_join(t, 0);
    FILE *to = popen("cat >got; exit 5", "w");
    fputs(line, to);
    int taken = pclose(to);
    if (strcmp(line, "seven 7\n") == 0 && WEXITSTATUS(ended) == 4 && WEXITSTATUS(taken) == 5)
        abort();
}
