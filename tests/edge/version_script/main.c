#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int answer(void), fresh(void);

int main(void)
{
    int (*old)(void) = (int (*)(void))dlvsym(RTLD_DEFAULT, "answer", "V1");
    int a = answer(), b = old ? old() : -1, c = fresh();
    printf("%d %d %d\n", a, b, c);
    printf("%d %d\n", dlsym(RTLD_DEFAULT, "internal") != NULL, dlsym(RTLD_DEFAULT, "counter") != NULL);
    return 0;
}
