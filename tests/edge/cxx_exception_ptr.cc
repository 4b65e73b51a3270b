// exception_ptr between threads, nested exceptions, exceptions during unwinding, catch in destructors.
// FLAGS: -pthread
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

struct Careful {
    ~Careful()
    {
        try {
            throw 1;
        } catch (int) {
            std::printf("[inside %d]", std::uncaught_exceptions());
        }
    }
};
static void unroll(const std::exception &e, int depth)
{
    std::printf("%*s%s\n", depth * 2, "", e.what());
    try {
        std::rethrow_if_nested(e);
    } catch (const std::exception &inner) {
        unroll(inner, depth + 1);
    }
}
static void layer(int n)
{
    try {
        if (n == 0)
            throw std::out_of_range("deepest");
        layer(n - 1);
    } catch (...) {
        std::throw_with_nested(std::runtime_error("layer " + std::to_string(n)));
    }
}

int main()
{
    std::exception_ptr kept;
    std::thread([&] {
        try {
            Careful c;
            layer(2);
        } catch (...) {
            kept = std::current_exception();
        }
    }).join();
    std::printf("\n");
    for (int i = 0; i < 2; i++)
        try {
            std::rethrow_exception(kept);
        } catch (const std::exception &e) {
            unroll(e, i);
        }
}
