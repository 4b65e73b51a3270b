// -fPIE -pie with relocations in data and -z now, relro: tables of functions and of pointers.
// FLAGS: -fPIE -pie -Wl,-z,now -Wl,-z,relro
#include <stdio.h>

static int add(int a, int b)
{
    return a + b;
}
static int sub(int a, int b)
{
    return a - b;
}
static int (*const ops[])(int, int) = {add, sub};
static const char *const names[] = {"add", "sub"};
static int data[2] = {30, 12};
static int *const pointers[] = {&data[0], &data[1]};

int main(void)
{
    for (int i = 0; i < 2; i++)
        printf("%s %d\n", names[i], ops[i](*pointers[0], *pointers[1]));
    return 0;
}
