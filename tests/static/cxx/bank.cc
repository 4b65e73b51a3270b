// BROKEN: Bank.log
// Two locks taken at once, and a log with its own.
#include "all.h"
struct Account {
    std::mutex m;
    long balance;
    explicit Account(long b) : balance(b)
    {
    }
};
class Bank
{
    std::vector<std::unique_ptr<Account>> accounts;
    std::mutex lm;
    std::list<std::string> log;

  public:
    explicit Bank(int n)
    {
        for (int i = 0; i < n; i++)
            accounts.emplace_back(new Account(100));
    }
    bool transfer(size_t a, size_t b, long n)
    {
        if (a == b)
            return false;
        std::scoped_lock both(accounts[a]->m, accounts[b]->m);
        if (accounts[a]->balance < n)
            return false;
        accounts[a]->balance -= n;
        accounts[b]->balance += n;
        note("ok");
        return true;
    }
    void note(const std::string &s)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> g(lm);
#endif
        log.push_back(s);
        if (log.size() > 10)
            log.pop_front();
    }
    long sum()
    {
        long t = 0;
        for (auto &a : accounts) {
            std::lock_guard<std::mutex> g(a->m);
            t += a->balance;
        }
        return t;
    }
};
int main()
{
    Bank bank(5);
    std::array<std::thread, 3> ts;
    for (size_t i = 0; i < ts.size(); i++)
        ts[i] = std::thread([&bank, i] {
            for (size_t k = 0; k < 50; k++)
                bank.transfer((i + k) % 5, (i + 2 * k) % 5, (long)k % 7);
        });
    for (auto &t : ts)
        t.join();
    printf("%ld\n", bank.sum());
}
