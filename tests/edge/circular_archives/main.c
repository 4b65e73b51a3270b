#include <stdio.h>
int ping(int);
extern int trail[], at, pong_calls;
int main(void)
{
    int r = ping(7);
    printf("%d %d %d %d\n", r, at, trail[1], pong_calls);
    return 0;
}
