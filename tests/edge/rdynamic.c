// -rdynamic: the program finds functions nobody calls, its own variables and dladdr names.
// FLAGS: -rdynamic -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int command_add(int a, int b)
{
    return a + b;
}
int command_mul(int a, int b)
{
    return a * b;
}
int setting = 5;

int main(void)
{
    void *self = dlopen(NULL, RTLD_NOW);
    const char *names[] = {"command_add", "command_mul", "command_none"};
    for (int i = 0; i < 3; i++) {
        int (*f)(int, int) = (int (*)(int, int))dlsym(self, names[i]);
        Dl_info info;
        if (!f)
            printf("no %s\n", names[i]);
        else
            printf("%s %d %s\n", names[i], f(6, 7), dladdr((void *)f, &info) ? info.dli_sname : "?");
    }
    *(int *)dlsym(self, "setting") = 8;
    printf("%d\n", setting);
    return 0;
}
