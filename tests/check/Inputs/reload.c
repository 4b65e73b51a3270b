/* A signal handler asks for a reload; the config thread swaps the configuration that workers use: the old one is freed
 * while a worker may still read it. FIXED holds the lock while using it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct config {
    int version, copy;
};
static volatile sig_atomic_t reload;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config *config;
static int stop;

static void on_hup(int n)
{
    (void)n;
    reload = 1;
}

static struct config *load(int version)
{
    struct config *c = malloc(sizeof *c);
    c->version = c->copy = version;
    return c;
}

static void *worker(void *arg)
{
    long *seen = arg;
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        struct config *c = config;
#ifndef FIXED
        pthread_mutex_unlock(&lock);
#endif
        if (c->version != c->copy)
            abort();
        *seen += c->version;
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
    }
    return NULL;
}

static void *manager(void *arg)
{
    int version = 1;
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        int ends = stop;
        pthread_mutex_unlock(&lock);
        if (ends)
            return NULL;
        if (reload) {
            reload = 0;
            struct config *fresh = load(++version), *old;
            pthread_mutex_lock(&lock);
            old = config;
            config = fresh;
            pthread_mutex_unlock(&lock);
            free(old);
        }
        usleep(200);
    }
}

int main(void)
{
    pthread_t m, w[2];
    long seen[2] = {0, 0};
    sigset_t hup;
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    signal(SIGHUP, on_hup);
    config = load(1);
    pthread_create(&m, NULL, manager, NULL);
    pthread_sigmask(SIG_BLOCK, &hup, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&w[i], NULL, worker, &seen[i]);
    pthread_kill(m, SIGHUP);
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(m, NULL);
    printf("%s\n", seen[0] >= 4 && seen[1] >= 4 ? "ok" : "bad");
    free(config);
    return !(seen[0] >= 4 && seen[1] >= 4);
}
