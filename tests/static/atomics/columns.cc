// suspect: picture
// Each painter has its columns of the picture, by bounds that it is given; broken: it also paints the pixel to the right.
#include <thread>
#include <vector>

struct Painter {
    int size;
    std::vector<unsigned> picture;

    explicit Painter(int n) : size(n), picture(size_t(n) * size_t(n)) {}

    void paint(int left, int right)
    {
        for (int y = 0; y < size; y++)
            for (int x = left; x < right; x++) {
                picture[size_t(y * size + x)] = unsigned(x ^ y);
#ifdef BROKEN
                picture[size_t(y * size + x + 1)] = unsigned(x ^ y);
#endif
            }
    }
};

int main()
{
    enum { painters = 4 };
    Painter canvas(64);
    std::vector<std::thread> all;
    for (int i = 0; i < painters; i++)
        all.emplace_back(&Painter::paint, &canvas, 64 * i / painters, 64 * (i + 1) / painters);
    for (auto &t : all)
        t.join();
}
