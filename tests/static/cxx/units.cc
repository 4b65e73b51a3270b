// BROKEN: Unit.done
// Each unit keeps the thread that works on it; two of them in one unit meet.
#include "all.h"
class Unit {
    std::thread first;
#ifdef BROKEN
    std::thread second;
#endif
    int steps;
    int done = 0;

    void work()
    {
        while (done < steps)
            done++;
    }

public:
    explicit Unit(int n) : steps(n) {}
    void start()
    {
        first = std::thread([this] { work(); });
#ifdef BROKEN
        second = std::thread([this] { work(); });
#endif
    }
    int finish()
    {
        first.join();
#ifdef BROKEN
        second.join();
#endif
        return done;
    }
};

int main()
{
    std::vector<std::unique_ptr<Unit>> units;
    for (int i = 0; i < 4; i++)
        units.push_back(std::make_unique<Unit>(10 * i));
    for (auto &u : units)
        u->start();
    int sum = 0;
    for (auto &u : units)
        sum += u->finish();
    printf("%d\n", sum);
}
