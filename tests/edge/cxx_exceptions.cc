// Exceptions: nested try, rethrow, catch by base, catch all, objects destroyed in order, values kept.
#include <cstdio>
#include <stdexcept>
#include <string>

struct Tracer {
    char name;
    explicit Tracer(char n) : name(n)
    {
        std::printf("+%c", name);
    }
    ~Tracer()
    {
        std::printf("-%c", name);
    }
};
struct Base {
    virtual ~Base() = default;
    virtual int code() const
    {
        return 1;
    }
};
struct Derived : Base {
    int value;
    explicit Derived(int v) : value(v)
    {
    }
    int code() const override
    {
        return value;
    }
};

static void thrower(int n)
{
    Tracer t('t');
    switch (n) {
    case 0:
        throw 42;
    case 1:
        throw std::runtime_error("runtime");
    case 2:
        throw Derived(7);
    case 3:
        throw "text";
    case 4:
        throw new int(9);
    }
    std::printf("(none)");
}
static int middle(int n)
{
    Tracer m('m');
    try {
        Tracer i('i');
        thrower(n);
    } catch (const std::exception &e) {
        Tracer c('c');
        std::printf("[%s]", e.what());
        throw std::logic_error(std::string("from ") + e.what());
    } catch (int v) {
        std::printf("[int %d]", v);
        throw;
    } catch (const Base &b) {
        std::printf("[code %d]", b.code());
        return b.code();
    }
    return 0;
}

int main()
{
    for (int n = 0; n < 6; n++) {
        try {
            Tracer o('o');
            std::printf("=%d", middle(n));
        } catch (int &v) {
            std::printf(" int %d", v);
        } catch (std::logic_error &e) {
            std::printf(" logic %s", e.what());
        } catch (int *p) {
            std::printf(" pointer %d", *p);
            delete p;
        } catch (...) {
            std::printf(" other");
        }
        std::printf("\n");
    }
}
