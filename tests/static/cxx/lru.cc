// BROKEN: LruCache<.*>.index
// A list, and an index of its iterators.
#include "all.h"
template <class K, class V> class LruCache
{
    using Entry = std::pair<K, V>;
    std::list<Entry> order;
    std::unordered_map<K, typename std::list<Entry>::iterator> index;
    size_t cap;
    std::mutex m;

  public:
    explicit LruCache(size_t c) : cap(c)
    {
    }
    std::optional<V> get(const K &k)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> g(m);
#endif
        auto it = index.find(k);
        if (it == index.end())
            return std::nullopt;
        order.splice(order.begin(), order, it->second);
        return it->second->second;
    }
    void put(const K &k, V v)
    {
        std::lock_guard<std::mutex> g(m);
        auto it = index.find(k);
        if (it != index.end()) {
            it->second->second = std::move(v);
            order.splice(order.begin(), order, it->second);
            return;
        }
        order.emplace_front(k, std::move(v));
        index[k] = order.begin();
        if (order.size() > cap) {
            index.erase(order.back().first);
            order.pop_back();
        }
    }
};
int main()
{
    LruCache<std::string, int> c(8);
    auto work = [&c](int s) {
        for (int i = 0; i < 50; i++) {
            std::string k = "k" + std::to_string((i * s) % 13);
            if (auto v = c.get(k))
                c.put(k, *v + 1);
            else
                c.put(k, 0);
        }
    };
    std::thread a(work, 3), b(work, 5);
    a.join();
    b.join();
    if (auto v = c.get("k1"))
        printf("%d\n", *v);
}
