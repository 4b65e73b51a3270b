// Variable-length arrays (also two-dimensional, as parameters), alloca in a loop, jumps out of their scope.
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static __attribute__((noinline)) long matrix(int n, int m, long a[n][m])
{
    long t[m][n], sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            t[k][i] = a[i][k] * (i + 1);
    for (int k = 0; k < m; k++)
        sum = sum * 7 + t[k][n - 1];
    return sum + (long)sizeof t;
}
struct node {
    struct node *next;
    int v;
};

int main(void)
{
    for (int n = 1; n < 6; n++) {
        long a[n][n + 1];
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= n; k++)
                a[i][k] = i * k + 1;
        printf("%ld ", matrix(n, n + 1, a));
    }
    struct node *list = NULL;
    for (int i = 0; i < 50; i++) {
        struct node *p = alloca(sizeof *p);
        *p = (struct node){list, i};
        list = p;
    }
    int sum = 0, round = 0;
    for (struct node *p = list; p; p = p->next)
        sum = sum * 3 + p->v;
    printf("\n%d\n", sum);
again:;
    char text[round * 10 + 10];
    memset(text, 'a' + round, sizeof text);
    text[sizeof text - 1] = 0;
    if (++round < 4)
        goto again;
    printf("%s\n", text);
    return 0;
}
