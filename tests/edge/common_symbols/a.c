#include <stdio.h>
int counter;
int buffer[4];
long initialised;
_Alignas(64) char aligned;
void bump(void);
int last(void);

int main(void)
{
    counter = 5;
    bump();
    buffer[3] = 9;
    printf("%d %d %d %ld %d\n", counter, buffer[3], last(), initialised, ((unsigned long)&aligned & 63) != 0);
    return 0;
}
