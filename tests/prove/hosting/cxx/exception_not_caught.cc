/* A task throws when it finds the account empty; its thread catches nothing.
 * Expected: assertion. */
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static int balance = 10;

static void withdraw(int amount)
{
    std::lock_guard<std::mutex> hold(lock);
    if (balance < amount)
        throw std::runtime_error("not enough");
    balance -= amount;
}

static void customer()
{
#ifdef FIXED
    try {
        withdraw(10);
    } catch (const std::runtime_error &) {
    }
#else
    withdraw(10);
#endif
}

static void employer()
{
    std::lock_guard<std::mutex> hold(lock);
    balance += 10;
}

int main()
{
    std::thread e(employer), a(customer), b(customer);
    e.join();
    a.join();
    b.join();
    return 0;
}
