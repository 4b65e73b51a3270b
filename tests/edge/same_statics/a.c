#include <stdio.h>
struct state {
    int a;
    char b;
};
static struct state state = {1, 'a'};
static int helper(int x)
{
    state.a += x;
    return state.a;
}
int from_b(int), from_c(int);

int main(void)
{
    for (int i = 0; i < 3; i++) {
        int x = helper(i), y = from_b(i), z = from_c(i);
        printf("%d %d %d\n", x, y, z);
    }
    return 0;
}
