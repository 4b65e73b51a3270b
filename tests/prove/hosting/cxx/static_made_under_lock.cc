/* A variable that is made at its first use takes a lock when it is made; another thread uses it first while it holds
 * that lock. Expected: deadlock. */
#include <mutex>
#include <thread>

static std::mutex registry;

struct Log {
    Log()
    {
#ifndef FIXED
        std::lock_guard<std::mutex> hold(registry);
#endif
        level = 1;
    }
    int level;
};

static Log &the_log()
{
    static Log log;
    return log;
}

static void registrar()
{
    std::lock_guard<std::mutex> hold(registry);
    the_log().level;
}

static void user()
{
    the_log().level;
}

int main()
{
    std::thread a(user), b(registrar);
    a.join();
    b.join();
    return 0;
}
