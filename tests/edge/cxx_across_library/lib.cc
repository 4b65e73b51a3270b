#include "shapes.h"
Shape::~Shape() = default;
namespace
{
struct Box : Shape {
    double a = 2, b = 4;
    double area() const override
    {
        return a * b;
    }
};
} // namespace
std::unique_ptr<Shape> make_shape(int kind)
{
    shared_count()++;
    shared_variable *= 2;
    if (kind == 0)
        return std::make_unique<Circle>(2);
    if (kind == 1)
        return std::make_unique<Box>();
    throw BadShape(kind);
}
bool is_circle(const Shape &s)
{
    return dynamic_cast<const Circle *>(&s) != nullptr;
}
