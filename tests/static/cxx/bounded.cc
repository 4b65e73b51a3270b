// BROKEN: items
// A bounded queue of what can only be moved.
#include "all.h"
template <typename T> class Bounded {
    mutable std::mutex m;
    std::condition_variable not_empty, not_full;
    std::deque<T> items;
    size_t limit;

public:
    explicit Bounded(size_t n) : limit(n) {}
    void put(T item)
    {
        std::unique_lock<std::mutex> lock(m);
        not_full.wait(lock, [this] { return items.size() < limit; });
        items.push_back(std::move(item));
        not_empty.notify_one();
    }
    T take()
    {
        std::unique_lock<std::mutex> lock(m);
        while (items.empty())
            not_empty.wait(lock);
        T item = std::move(items.front());
        items.pop_front();
        not_full.notify_one();
        return item;
    }
    size_t size() const
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(m);
#endif
        return items.size();
    }
};

struct Item {
    int number;
    std::string text;
};

int main()
{
    Bounded<std::unique_ptr<Item>> queue(4);
    std::thread producer([&queue] {
        for (int i = 0; i < 10; i++) {
            auto item = std::make_unique<Item>();
            item->number = i;
            item->text = "item";
            queue.put(std::move(item));
        }
        queue.put(nullptr);
    });
    long sum = 0;
    std::thread consumer([&] {
        while (std::unique_ptr<Item> item = queue.take())
            sum += item->number + (long)item->text.size();
    });
    printf("%zu waiting\n", queue.size());
    producer.join();
    consumer.join();
    printf("%ld\n", sum);
}
