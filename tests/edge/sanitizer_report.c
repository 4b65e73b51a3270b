// -fsanitize=address,undefined still notice what they must: a heap overflow ends the program with their status.
// GCC: differs
// FLAGS: -fsanitize=address,undefined
// ENV: ASAN_OPTIONS=log_path=/dev/null:exitcode=71:detect_leaks=0
// EXIT: 71
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    (void)argv;
    int *p = malloc(10 * sizeof *p);
    for (int i = 0; i < 10; i++)
        p[i] = i;
    printf("sum of two: %d\n", p[2] + p[3]);
    fflush(stdout);
    int r = p[9 + argc];
    printf("not reached %d\n", r);
    free(p);
    return 0;
}
