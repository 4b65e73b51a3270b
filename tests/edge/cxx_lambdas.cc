// Lambdas: by value, by reference, mutable, generic, recursive, in std::function, captured this, init captures.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

struct Counter {
    int n = 10;
    auto adder()
    {
        return [this](int d) { return n += d; };
    }
    auto copy()
    {
        return [*this](int d) mutable { return n += d; };
    }
};

int main()
{
    int outside = 5;
    auto by_value = [outside]() mutable { return ++outside; };
    auto by_reference = [&] { return outside += 100; };
    int v = by_value();
    int r = by_reference();
    std::printf("%d %d %d\n", v, r, outside);
    auto generic = []<class T>(T a, auto b) { return a * b; };
    std::printf("%d %g\n", generic(6, 7), generic(1.5, 2));
    std::function<long(long)> factorial = [&](long n) { return n < 2 ? 1 : n * factorial(n - 1); };
    std::printf("%ld\n", factorial(15));
    Counter c;
    auto add = c.adder();
    auto copied = c.copy();
    add(5);
    int k = copied(1);
    std::printf("%d %d\n", c.n, k);
    auto owner = [p = std::make_unique<int>(77)] { return (*p)++; };
    int first = owner();
    std::printf("%d %d\n", first, owner());
    std::vector<int> values(50);
    int next = 0;
    std::generate(values.begin(), values.end(), [&next] { return next = (next * 7 + 3) % 101; });
    std::sort(values.begin(), values.end(), [](int a, int b) { return a % 10 != b % 10 ? a % 10 < b % 10 : a < b; });
    std::printf("%d %d %d\n", values[0], values[25], values[49]);
    int (*plain)(int) = [](int x) { return x + 1; };
    std::printf("%d\n", plain(1));
}
