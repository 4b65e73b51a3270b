// Reads and writes back in two steps, one of which may throw.
#include <mutex>
#include <thread>
#include <vector>
#include <string>
#include <cstdio>
#include <stdexcept>
class Account {
    mutable std::mutex m_;
    long balance_ = 100;
  public:
    long balance() const { std::lock_guard<std::mutex> g(m_); return balance_; }
    void set(long b) { std::lock_guard<std::mutex> g(m_); balance_ = b; }
};
static Account acc;
static void deposit(long n)
{
    long b = acc.balance();
    if (n < 0)
        throw std::invalid_argument("n");
    acc.set(b + n);
}
int main()
{
    std::vector<std::thread> all;
    for (int i = 0; i < 3; i++)
        all.emplace_back([i] {
            try { deposit(i == 2 ? -1 : 10); } catch (const std::exception &) {}
        });
    for (auto &t : all)
        t.join();
    std::printf("%ld\n", acc.balance());
    return acc.balance() != 120;
}
