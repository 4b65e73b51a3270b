// A section that is entered and left in every way there is. After each, another thread must find its lock free: it
// increments under it, and the sum shows that nobody was lost.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

static long shared;
static long fence; // where the section would end
static jmp_buf back;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static bool woken;

__attribute__((noinline)) static void throws()
{
    throw std::runtime_error("out");
}

// The entry; then one of the ways out before the end.
static long visit(int way)
{
    long seen = shared; // entry
    switch (way) {
    case 1:
        return seen;
    case 2:
        longjmp(back, 1);
    case 3:
        throws();
        break;
    case 4:
        pthread_exit(nullptr);
    case 5:
        pthread_mutex_lock(&mutex);
        while (!woken)
            pthread_cond_wait(&turn, &mutex);
        pthread_mutex_unlock(&mutex);
        break;
    case 6:
        return seen > 100 ? seen : visit(0) + 1;
    default:
        break;
    }
    fence = seen; // end
    return seen;
}

static void *other(void *)
{
    for (int i = 0; i < 100; i++)
        visit(0);
    return nullptr;
}

static void *leaver(void *)
{
    visit(4);
    return nullptr;
}

static void *waiter(void *)
{
    visit(5);
    return nullptr;
}

// Another thread comes by.
static void others()
{
    pthread_t t;
    pthread_create(&t, nullptr, other, nullptr);
    while (pthread_tryjoin_np(t, nullptr) != 0)
        usleep(100);
}

static void wake()
{
    pthread_mutex_lock(&mutex);
    woken = true;
    pthread_cond_broadcast(&turn);
    pthread_mutex_unlock(&mutex);
}

static void catches()
{
    try {
        visit(3);
    } catch (const std::exception &e) {
        others();
    }
}

static void jumps()
{
    if (!setjmp(back))
        visit(2);
    others();
}

static void threads()
{
    pthread_t a, b;
    pthread_create(&a, nullptr, leaver, nullptr);
    pthread_join(a, nullptr);
    others();
    pthread_create(&b, nullptr, waiter, nullptr);
    usleep(20000);
    others();
    wake();
    pthread_join(b, nullptr);
    others();
}

static void forks()
{
    pid_t child = fork();
    if (!child) {
        others();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status)
        puts("FAILED: the child");
}

int main()
{
    visit(0), others();
    visit(1), others();
    jumps();
    catches();
    visit(6), others();
    threads();
    forks();
    puts("ok");
    return 0;
}
