// BROKEN: Account.history
// Exceptions that leave critical sections, and guards that know.
#include "all.h"
class Account {
    mutable std::mutex m;
    long balance;
    std::list<std::string> history;

public:
    explicit Account(long b) : balance(b) {}
    void withdraw(long amount)
    {
        std::lock_guard<std::mutex> guard(m);
        if (amount > balance)
            throw std::runtime_error("not enough");
        balance -= amount;
        history.push_back("withdrawn");
    }
    void note(const char *what)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(m);
#endif
        history.push_back(what);
    }
    long left() const
    {
        std::lock_guard<std::mutex> guard(m);
        return balance;
    }
};

static void spend(Account &a, int times, int &failed)
{
    for (int i = 0; i < times; i++)
        try {
            a.withdraw(30);
        } catch (const std::exception &e) {
            failed++;
            a.note(e.what());
        }
}

int main()
{
    Account account(100);
    int failed[2] = {0, 0};
    std::thread one([&] { spend(account, 3, failed[0]); });
    std::thread two(spend, std::ref(account), 4, std::ref(failed[1]));
    one.join();
    two.join();
    printf("%ld left, %d refused\n", account.left(), failed[0] + failed[1]);
}
