/* Ten counters race between the same functions; that one of them is short ends the program with 1, the others are
 * nobody's. With an argument only the last one is counted. */
#include <pthread.h>

static struct {
    long a, b, c, d, e, f, g, h, i, j;
} s;
static int is_short;

static void *add(void *arg)
{
    s.j++;
    if (is_short)
        return arg;
    s.a++;
    s.b++;
    s.c++;
    s.d++;
    s.e++;
    s.f++;
    s.g++;
    s.h++;
    s.i++;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t first, second;
    (void)argv;
    is_short = argc > 1;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return !is_short && s.a != 2;
}
