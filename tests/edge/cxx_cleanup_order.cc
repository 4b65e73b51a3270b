// Cleanups when constructors throw: members, bases, array elements, new expressions, function try blocks.
#include <cstdio>
#include <cstdlib>
#include <new>

static int live, countdown;
struct Part {
    int id;
    Part() : id(live++)
    {
        if (--countdown == 0) {
            live--;
            throw id;
        }
    }
    ~Part()
    {
        std::printf("~%d ", id);
        live--;
    }
};
struct Whole : Part {
    Part a, b;
    Part many[3];
    Whole()
    try : a(), b() {
        std::printf("built ");
    } catch (int n) {
        std::printf("(try block %d) ", n);
    }
    void *operator new(std::size_t n)
    {
        std::printf("new ");
        return std::malloc(n);
    }
    void operator delete(void *p)
    {
        std::printf("delete ");
        std::free(p);
    }
};

int main()
{
    for (int n = 0; n < 8; n++) {
        countdown = n;
        live = 0;
        try {
            delete new Whole;
        } catch (int id) {
            std::printf("caught %d", id);
        }
        std::printf(" live %d\n", live);
    }
    countdown = 3;
    try {
        Part *p = new Part[5];
        delete[] p;
    } catch (int id) {
        std::printf("array %d live %d\n", id, live);
    }
}
