#include <memory>
#include <stdexcept>
struct Shape {
    virtual double area() const = 0;
    virtual ~Shape();
};
struct Circle : Shape {
    double r;
    explicit Circle(double x) : r(x)
    {
    }
    double area() const override
    {
        return r * r * 3;
    }
};
struct BadShape : std::runtime_error {
    int code;
    BadShape(int c) : std::runtime_error("bad shape"), code(c)
    {
    }
};
inline int &shared_count()
{
    static int n = 0;
    return n;
}
inline int shared_variable = 5;
std::unique_ptr<Shape> make_shape(int kind);
bool is_circle(const Shape &s);
