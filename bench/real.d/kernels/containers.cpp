// Two threads sort vectors and build maps and strings of their own, then add up under a mutex. Argument: how much work.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

struct Order {
    uint32_t id;
    double price;
    std::string name;
};

struct Total {
    std::mutex lock;
    uint64_t sum = 0;
    std::map<std::string, uint64_t> by_name;
};

std::vector<Order> make_orders(uint32_t seed, size_t n)
{
    std::vector<Order> orders;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525U + 1013904223U;
        orders.push_back({seed >> 8, (seed >> 12) / 256.0, "customer-" + std::to_string(seed >> 26)});
    }
    return orders;
}

uint64_t work_through(const std::vector<Order> &orders, std::map<std::string, uint64_t> &by_name)
{
    std::vector<double> prices(orders.size());
    std::transform(orders.begin(), orders.end(), prices.begin(), [](const Order &o) { return o.price; });
    std::partial_sum(prices.begin(), prices.end(), prices.begin());
    std::unordered_map<uint32_t, size_t> place;
    uint64_t sum = 0;
    for (size_t i = 0; i < orders.size(); i++) {
        place[orders[i].id % 4096] = i;
        by_name[orders[i].name] += orders[i].id;
        sum += static_cast<uint64_t>(prices[i]) ^ place.size();
    }
    return sum;
}

void trade(uint32_t seed, int rounds, Total &total)
{
    for (int i = 0; i < rounds; i++) {
        std::vector<Order> orders = make_orders(seed + static_cast<uint32_t>(i), 10000);
        std::sort(orders.begin(), orders.end(), [](const Order &a, const Order &b) { return a.price < b.price; });
        std::map<std::string, uint64_t> by_name;
        uint64_t sum = work_through(orders, by_name);
        std::lock_guard<std::mutex> hold(total.lock);
        total.sum += sum;
        for (const auto &[name, n] : by_name)
            total.by_name[name] += n;
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-')
        return 0;
    int rounds = 8 * std::atoi(argv[1]);
    Total total;
    std::thread first(trade, 1, rounds, std::ref(total)), second(trade, 77, rounds, std::ref(total));
    first.join();
    second.join();
    uint64_t names = 0;
    for (const auto &[name, n] : total.by_name)
        names = names * 31 + n + name.size();
    std::printf("%llu %llu\n", static_cast<unsigned long long>(total.sum), static_cast<unsigned long long>(names));
}
