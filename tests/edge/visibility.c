// Hidden, protected, internal and default symbols; only the exported ones are found by dlsym.
// FLAGS: -rdynamic -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

__attribute__((visibility("hidden"))) int hidden_v = 1;
__attribute__((visibility("protected"))) int protected_v = 2;
__attribute__((visibility("internal"))) int internal_v = 3;
int default_v = 4;
__attribute__((visibility("default"))) int exported(int x)
{
    return x + hidden_v + internal_v;
}
__attribute__((visibility("hidden"))) int concealed(int x)
{
    return x - 1;
}

int main(void)
{
    const char *names[] = {"hidden_v", "protected_v", "internal_v", "default_v", "exported", "concealed", "main"};
    for (int i = 0; i < 7; i++)
        printf("%s %d\n", names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL);
    int (*f)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "exported");
    int *p = dlsym(RTLD_DEFAULT, "protected_v");
    *p += 10;
    printf("%d %d %d\n", f(5), concealed(1), protected_v);
    return 0;
}
