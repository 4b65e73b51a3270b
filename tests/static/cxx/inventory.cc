// BROKEN: Inventory.stock
// A lock that its holder takes again.
#include "all.h"
enum class Kind { Bolt, Nut };
struct Item {
    Kind kind;
    int count;
    std::string label;
};
class Inventory
{
    std::map<Kind, std::vector<Item>> stock;
    mutable std::recursive_mutex m;
    std::multimap<std::string, int> journal;

  public:
    void add(Item i)
    {
        std::lock_guard<std::recursive_mutex> g(m);
        note(i.label, i.count);
        stock[i.kind].push_back(std::move(i));
    }
    void note(const std::string &l, int n)
    {
        std::lock_guard<std::recursive_mutex> g(m);
        journal.insert({l, n});
    }
    bool remove(Kind k, int n)
    {
#ifndef BROKEN
        std::lock_guard<std::recursive_mutex> g(m);
#endif
        auto it = stock.find(k);
        if (it == stock.end())
            return false;
        auto &v = it->second;
        for (auto p = v.begin(); p != v.end(); ++p)
            if (p->count >= n) {
                p->count -= n;
                if (!p->count)
                    v.erase(p);
                return true;
            }
        return false;
    }
    int total() const
    {
        std::lock_guard<std::recursive_mutex> g(m);
        int t = 0;
        for (const auto &[k, v] : stock)
            for (const auto &i : v)
                t += i.count;
        return t;
    }
};
int main()
{
    Inventory inv;
    std::thread a([&] {
        for (int i = 0; i < 9; i++)
            inv.add({i % 2 ? Kind::Bolt : Kind::Nut, i + 1, "l" + std::to_string(i)});
    });
    std::thread b([&] {
        int ok = 0;
        for (int i = 0; i < 9; i++)
            ok += inv.remove(Kind::Bolt, 2);
        printf("%d\n", ok);
    });
    a.join();
    b.join();
    printf("%d\n", inv.total());
}
