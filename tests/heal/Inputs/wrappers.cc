// A section takes one lock through a guard, and others come to its variable under another one, or (SAME) under that.
// Guards, the library's own functions and those of the program only hand locks on.
#include <mutex>
#include <pthread.h>

class Store
{
  public:
    std::mutex first, second;
    long items = 0, changes = 0;

    void change()
    {
        std::unique_lock<std::mutex> hold(first);
        changes++;
    }
};

static Store store;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static long length;

static void take(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
}

static void give(pthread_mutex_t *m)
{
    pthread_mutex_unlock(m);
}

__attribute__((noinline)) static void trim(Store &s)
{
    long now = length;
    s.change();
    take(&plain);
    give(&plain);
    length = now - 1;
}

static void *grow(void *)
{
#ifdef SAME
    std::lock_guard<std::mutex> hold(store.first);
#else
    std::lock_guard<std::mutex> hold(store.second);
#endif
    length++;
    return nullptr;
}

int main()
{
    pthread_t t;
    pthread_create(&t, nullptr, grow, nullptr);
    trim(store);
    pthread_join(t, nullptr);
    return 0;
}
