/* One thread reads what it has freed itself: no race, but a finding. finds: use-after-free */
#include <stdio.h>
#include <stdlib.h>

struct pair {
    int first, second;
};

static int second_of(struct pair *p)
{
    return p->second;
}

int main(void)
{
    struct pair *p = malloc(sizeof *p);
    p->first = p->second = 2;
    free(p);
    printf("%d\n", second_of(p) != 12345);
    return 0;
}
