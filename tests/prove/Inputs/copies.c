/* Opens plugin.so, or a copy of it that has another name in every run. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void (*deposit)(int);

static void *pay(void *arg)
{
    deposit(5);
    return arg;
}

int main(void)
{
    char to[64] = "./plugin.so";
    pthread_t a, b;
#ifndef SAME
    char command[128];
    snprintf(to, sizeof to, "./copy-%d.so", getpid());
    snprintf(command, sizeof command, "cp plugin.so %s", to);
    if (system(command))
        abort();
#endif
    void *plugin = dlopen(to, RTLD_NOW);
    if (!plugin)
        abort();
#ifndef SAME
    unlink(to);
#endif
    *(void **)&deposit = dlsym(plugin, "deposit");
    pthread_create(&a, NULL, pay, NULL);
    pthread_create(&b, NULL, pay, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
