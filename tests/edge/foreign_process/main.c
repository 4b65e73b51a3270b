#include <dlfcn.h>
#include <stdio.h>
long lib_work(void);
int main(void)
{
    printf("%ld\n", lib_work());
    void *h = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!h) {
        printf("%s\n", dlerror());
        return 1;
    }
    int (*step)(int) = (int (*)(int))dlsym(h, "plugin_step");
    int a = step(5), b = step(6);
    printf("%d %d\n", a, b);
    return dlclose(h);
}
