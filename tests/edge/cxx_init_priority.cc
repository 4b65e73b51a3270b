// init_priority and the order inside one file, beside constructor functions; destruction in reverse.
// GCC: differs
#include <cstdio>

struct Speaker {
    int n;
    explicit Speaker(int k) : n(k)
    {
        std::printf("+%d ", n);
    }
    ~Speaker()
    {
        std::printf("-%d ", n);
    }
};
Speaker last(9);
__attribute__((init_priority(3000))) Speaker third(3);
__attribute__((init_priority(500))) Speaker second(2);
__attribute__((constructor(400))) static void early()
{
    std::printf("function ");
}
Speaker after(10);
inline Speaker in_line(11);
template <int N> struct Lazy {
    static Speaker s;
};
template <int N> Speaker Lazy<N>::s(N);
constinit int constant = 5;
static int dynamic = last.n + constant;

int main()
{
    std::printf("main %d %d\n", dynamic, Lazy<12>::s.n);
}
