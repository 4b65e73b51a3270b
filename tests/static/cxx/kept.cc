// BROKEN: Order.total
// What was moved into a queue is the taker's, unless somebody kept a pointer to it.
#include "all.h"
struct Order {
    int total = 0;
    std::vector<int> lines;
};
class Orders {
    std::mutex m;
    std::deque<std::unique_ptr<Order>> open;
    bool closed = false;

public:
    void put(std::unique_ptr<Order> o)
    {
        std::lock_guard<std::mutex> guard(m);
        open.push_back(std::move(o));
    }
    void close()
    {
        std::lock_guard<std::mutex> guard(m);
        closed = true;
    }
    bool take(std::unique_ptr<Order> &out)
    {
        std::lock_guard<std::mutex> guard(m);
        if (open.empty())
            return !closed;
        out = std::move(open.front());
        open.pop_front();
        return true;
    }
};

int main()
{
    Orders orders;
    std::thread clerk([&orders] {
        long sum = 0;
        std::unique_ptr<Order> order;
        while (orders.take(order))
            if (order) {
                for (int line : order->lines)
                    order->total += line;
                sum += order->total;
                order.reset();
            }
        printf("%ld\n", sum);
    });
    for (int i = 0; i < 10; i++) {
        auto order = std::make_unique<Order>();
        order->lines.push_back(i);
        order->total = 1;
#ifdef BROKEN
        Order *kept = order.get();
        orders.put(std::move(order));
        kept->total++;
#else
        order->total++;
        orders.put(std::move(order));
#endif
    }
    orders.close();
    clerk.join();
}
