// Both locks at once. BROKEN 1: one after the other, as they come.
#include <cstdio>
#include <mutex>
#include <thread>
struct Account {
    std::mutex mutex;
    long money = 100;
};

static void transfer(Account &from, Account &to, long amount)
{
#if BROKEN == 1
    std::lock_guard<std::mutex> one(from.mutex);
    std::lock_guard<std::mutex> other(to.mutex);
#else
    std::scoped_lock both(from.mutex, to.mutex);
#endif
    from.money -= amount;
    to.money += amount;
}

static Account savings, checking;

int main()
{
    std::thread a([] { transfer(savings, checking, 1); }), b([] { transfer(checking, savings, 2); });
    a.join();
    b.join();
    std::printf("%ld\n", savings.money + checking.money);
}
