// std::lock on deferred guards, then std::lock and adopted guards. BROKEN 1: the guards lock themselves.
#include <cstdio>
#include <mutex>
#include <thread>
static std::mutex in, out;
static int waiting, sent;

static void push()
{
#if BROKEN == 1
    std::unique_lock<std::mutex> a(in), b(out);
#else
    std::unique_lock<std::mutex> a(in, std::defer_lock), b(out, std::defer_lock);
    std::lock(a, b);
#endif
    waiting++;
    sent--;
}

static void pull()
{
    std::lock(out, in);
    std::lock_guard<std::mutex> b(out, std::adopt_lock);
    std::lock_guard<std::mutex> a(in, std::adopt_lock);
    waiting--;
    sent++;
}

static void report()
{
#if BROKEN == 1
    std::lock_guard<std::mutex> b(out);
    std::lock_guard<std::mutex> a(in);
#else
    std::scoped_lock both(out, in);
#endif
    std::printf("%d %d\n", waiting, sent);
}

int main()
{
    std::thread a(push), b(pull), c(report);
    a.join();
    b.join();
    c.join();
}
