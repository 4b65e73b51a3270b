#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
int host_data;
int host_service(int x)
{
    return x * 10;
}
static int (*run)(int);
static void *thread(void *arg)
{
    return (void *)(long)(run(2) + (arg != NULL));
}
static int use(const char *name)
{
    void *h = dlopen(name, RTLD_NOW), *r;
    if (!h) {
        printf("%s\n", dlerror());
        return 1;
    }
    run = (int (*)(int))dlsym(h, "plugin_run");
    pthread_t t;
    int a = run(1);
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, &r);
    int b = run(3);
    printf("%d %ld %d\n", a, (long)r, b);
    return dlclose(h);
}

int main(void)
{
    int r = 0;
    for (int i = 0; i < 2; i++)
        r += use("./plugin.so") + use("./plugin2.so");
    printf("%d %d\n", r, host_data);
    return 0;
}
