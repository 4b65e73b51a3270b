// A multi-threaded ray tracer, after _227_mtrt of SPECjvm98.
//
// The scene (a knotted tube of triangles above a floor, and a few mirror balls) hangs in an octree and is only read
// while rendering. A RayTracer starts its runners, counts them in threadCount, and gives each a vertical section of the
// canvas. A runner that has finished takes itself off threadCount. Nobody holds a lock for that, and nobody ever asks
// for the count.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <memory>
#include <thread>
#include <vector>

namespace
{

struct Vec {
    double x = 0, y = 0, z = 0;
    Vec operator+(Vec o) const
    {
        return {x + o.x, y + o.y, z + o.z};
    }
    Vec operator-(Vec o) const
    {
        return {x - o.x, y - o.y, z - o.z};
    }
    Vec operator*(double k) const
    {
        return {x * k, y * k, z * k};
    }
    double operator[](int axis) const
    {
        return axis == 0 ? x : axis == 1 ? y : z;
    }
};

double dot(Vec a, Vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

Vec cross(Vec a, Vec b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

Vec unit(Vec a)
{
    return a * (1.0 / std::sqrt(dot(a, a)));
}

struct Ray {
    Vec from, along;
};

struct Box {
    Vec low{1e30, 1e30, 1e30}, high{-1e30, -1e30, -1e30};

    void include(Vec p)
    {
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }

    bool overlaps(const Box &o) const
    {
        return low.x <= o.high.x && o.low.x <= high.x && low.y <= o.high.y && o.low.y <= high.y && low.z <= o.high.z &&
               o.low.z <= high.z;
    }

    // Where the ray enters, or a negative number when it misses or enters behind `limit`.
    double enter(const Ray &r, double limit) const
    {
        double near = 0, far = limit;
        for (int axis = 0; axis < 3; axis++) {
            double inverse = 1.0 / r.along[axis];
            double a = (low[axis] - r.from[axis]) * inverse, b = (high[axis] - r.from[axis]) * inverse;
            near = std::max(near, std::min(a, b));
            far = std::min(far, std::max(a, b));
        }
        return near <= far ? near : -1;
    }
};

struct Material {
    Vec colour;
    double mirror;
};

class Primitive
{
  public:
    explicit Primitive(const Material *m) : material(m)
    {
    }
    virtual ~Primitive() = default;
    virtual double intersect(const Ray &r) const = 0; // distance, or a negative number
    virtual Vec normal(Vec at) const = 0;
    virtual Box bounds() const = 0;
    const Material *material;
};

class Sphere final : public Primitive
{
  public:
    Sphere(Vec c, double r, const Material *m) : Primitive(m), centre(c), radius(r)
    {
    }

    double intersect(const Ray &r) const override
    {
        Vec to = centre - r.from;
        double middle = dot(to, r.along), square = radius * radius - (dot(to, to) - middle * middle);
        if (square < 0)
            return -1;
        double half = std::sqrt(square);
        return middle - half > 1e-6 ? middle - half : middle + half;
    }

    Vec normal(Vec at) const override
    {
        return (at - centre) * (1.0 / radius);
    }

    Box bounds() const override
    {
        Vec r{radius, radius, radius};
        return {centre - r, centre + r};
    }

  private:
    Vec centre;
    double radius;
};

class Triangle final : public Primitive
{
  public:
    Triangle(Vec p, Vec q, Vec r, const Material *m)
        : Primitive(m), corner(p), side1(q - p), side2(r - p), facing(unit(cross(side1, side2)))
    {
    }

    double intersect(const Ray &r) const override
    {
        Vec p = cross(r.along, side2);
        double determinant = dot(side1, p);
        if (std::fabs(determinant) < 1e-12)
            return -1;
        Vec t = r.from - corner;
        double u = dot(t, p) / determinant;
        if (u < 0 || u > 1)
            return -1;
        Vec q = cross(t, side1);
        double v = dot(r.along, q) / determinant;
        return v < 0 || u + v > 1 ? -1 : dot(side2, q) / determinant;
    }

    Vec normal(Vec) const override
    {
        return facing;
    }

    Box bounds() const override
    {
        Box b;
        b.include(corner);
        b.include(corner + side1);
        b.include(corner + side2);
        return b;
    }

  private:
    Vec corner, side1, side2, facing;
};

struct Hit {
    const Primitive *what = nullptr;
    double distance = 1e30;
};

class OctNode
{
  public:
    OctNode(const Box &space, std::vector<const Primitive *> inside, int depth) : box(space)
    {
        if (depth == 0 || inside.size() <= 8)
            members = std::move(inside);
        else
            split(inside, depth);
    }

    void nearest(const Ray &r, Hit &hit) const
    {
        if (box.enter(r, hit.distance) < 0)
            return;
        for (const Primitive *p : members) {
            double distance = p->intersect(r);
            if (distance > 1e-6 && distance < hit.distance)
                hit = {p, distance};
        }
        for (const auto &child : children)
            if (child)
                child->nearest(r, hit);
    }

  private:
    void split(const std::vector<const Primitive *> &inside, int depth)
    {
        Vec centre = (box.low + box.high) * 0.5;
        for (unsigned octant = 0; octant < 8; octant++) {
            Box part;
            part.include(centre);
            part.include({octant & 1 ? box.high.x : box.low.x, octant & 2 ? box.high.y : box.low.y,
                          octant & 4 ? box.high.z : box.low.z});
            std::vector<const Primitive *> some;
            for (const Primitive *p : inside)
                if (part.overlaps(p->bounds()))
                    some.push_back(p);
            if (!some.empty())
                children[octant] = std::make_unique<OctNode>(part, std::move(some), depth - 1);
        }
    }

    Box box;
    std::vector<const Primitive *> members;
    std::array<std::unique_ptr<OctNode>, 8> children;
};

class Scene
{
  public:
    explicit Scene(int detail)
    {
        add_floor();
        add_knot(detail);
        for (int i = 0; i < 5; i++)
            add<Sphere>(Vec{-4.0 + 2.0 * i, 0.6, -3.0 + 0.7 * i}, 0.6, &mirror);
        Box all;
        std::vector<const Primitive *> everything;
        for (const auto &p : primitives) {
            everything.push_back(p.get());
            all.include(p->bounds().low);
            all.include(p->bounds().high);
        }
        tree = std::make_unique<OctNode>(all, std::move(everything), 7);
    }

    Vec shade(const Ray &r, int depth) const
    {
        Hit hit;
        tree->nearest(r, hit);
        if (!hit.what)
            return Vec{0.2, 0.3, 0.5} * (0.5 + 0.5 * r.along.y);
        Vec at = r.from + r.along * hit.distance, n = hit.what->normal(at);
        if (dot(n, r.along) > 0)
            n = n * -1;
        const Material &m = *hit.what->material;
        Vec colour = m.colour * (0.15 + 0.85 * lit(at + n * 1e-6, n));
        if (m.mirror > 0 && depth > 0) {
            Ray away{at + n * 1e-6, r.along - n * (2 * dot(n, r.along))};
            colour = colour * (1 - m.mirror) + shade(away, depth - 1) * m.mirror;
        }
        return colour;
    }

  private:
    template <class P, class... Args> void add(Args... args)
    {
        primitives.push_back(std::make_unique<P>(args...));
    }

    double lit(Vec at, Vec n) const
    {
        Vec to = lamp - at;
        double distance = std::sqrt(dot(to, to)), cosine = dot(n, to) / distance;
        if (cosine <= 0)
            return 0;
        Hit between;
        between.distance = distance;
        tree->nearest({at, to * (1 / distance)}, between);
        return between.what ? 0 : cosine;
    }

    void add_floor()
    {
        for (int i = -6; i < 6; i++)
            for (int j = -6; j < 6; j++) {
                Vec a{1.0 * i, 0, 1.0 * j}, b{i + 1.0, 0, 1.0 * j}, c{i + 1.0, 0, j + 1.0}, d{1.0 * i, 0, j + 1.0};
                const Material *m = (i + j) & 1 ? &dark : &light;
                add<Triangle>(a, b, c, m);
                add<Triangle>(a, c, d, m);
            }
    }

    static Vec on_tube(double along, double around)
    {
        double ring = 2 + std::cos(3 * along);
        Vec centre{ring * std::cos(2 * along), 2.6 + std::sin(3 * along), ring * std::sin(2 * along)};
        Vec out = unit(Vec{std::cos(2 * along), 0, std::sin(2 * along)});
        return centre + (out * std::cos(around) + Vec{0, 1, 0} * std::sin(around)) * 0.35;
    }

    void add_knot(int detail)
    {
        const double turn = 2 * std::acos(-1.0);
        for (int i = 0; i < 12 * detail; i++)
            for (int j = 0; j < detail; j++) {
                double u0 = turn * i / (12 * detail), u1 = turn * (i + 1) / (12 * detail);
                double v0 = turn * j / detail, v1 = turn * (j + 1) / detail;
                add<Triangle>(on_tube(u0, v0), on_tube(u1, v0), on_tube(u1, v1), &skin);
                add<Triangle>(on_tube(u0, v0), on_tube(u1, v1), on_tube(u0, v1), &skin);
            }
    }

    const Material light{{0.8, 0.8, 0.7}, 0}, dark{{0.2, 0.2, 0.25}, 0.1}, skin{{0.3, 0.7, 0.3}, 0.05},
        mirror{{0.9, 0.9, 0.9}, 0.7};
    const Vec lamp{5, 9, -6};
    std::vector<std::unique_ptr<Primitive>> primitives;
    std::unique_ptr<OctNode> tree;
};

class RayTracer
{
  public:
    RayTracer(const Scene &s, int pixels) : scene(s), size(pixels), canvas(static_cast<size_t>(pixels) * pixels)
    {
    }

    void render(int runners)
    {
        std::vector<std::thread> threads;
        for (int id = 0; id < runners; id++) {
            threadCount++;
            threads.emplace_back(&RayTracer::run, this, size * id / runners, size * (id + 1) / runners);
        }
        for (std::thread &t : threads)
            t.join();
    }

    // Every seventh pixel again, in this thread alone.
    bool matches() const
    {
        for (int i = 0; i < size * size; i += 7)
            if (canvas[i] != colour_of(i % size, i / size))
                return false;
        return true;
    }

  private:
    // A runner: the columns from `left` up to `right`.
    void run(int left, int right)
    {
        for (int y = 0; y < size; y++)
            for (int x = left; x < right; x++)
                canvas[static_cast<size_t>(y) * size + x] = colour_of(x, y);
        threadCount--;
    }

    uint32_t colour_of(int x, int y) const
    {
        Vec eye{0, 4.5, -9};
        Vec at{(x + 0.5) / size * 8 - 4, 5.5 - (y + 0.5) / size * 7.5, -3};
        Vec c = scene.shade({eye, unit(at - eye)}, 4);
        auto byte = [](double v) { return static_cast<uint32_t>(255 * std::clamp(v, 0.0, 1.0)); };
        return byte(c.x) << 16 | byte(c.y) << 8 | byte(c.z);
    }

    const Scene &scene;
    const int size;
    std::vector<uint32_t> canvas;
#ifdef FIXED
    std::atomic<int> threadCount{0};
#else
    int threadCount = 0;
#endif
};

struct Options {
    int threads = 2, size = 40, detail = 6;
};

int number(const char *text, int low, int high)
{
    char *end;
    long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        std::fprintf(stderr, "mtrt: '%s' is not a number from %d to %d\n", text, low, high);
        std::exit(2);
    }
    return static_cast<int>(value);
}

Options parse(int argc, char **argv)
{
    Options opt;
    for (int c; (c = getopt(argc, argv, "t:n:d:h")) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, 256);
        else if (c == 'n')
            opt.size = number(optarg, 8, 8000);
        else if (c == 'd')
            opt.detail = number(optarg, 3, 200);
        else {
            std::fputs("usage: mtrt [-t threads] [-n canvas size] [-d detail of the knot]\n",
                       c == 'h' ? stdout : stderr);
            std::exit(c == 'h' ? 0 : 2);
        }
    }
    return opt;
}

} // namespace

int main(int argc, char **argv)
{
    Options opt = parse(argc, argv);
    Scene scene(opt.detail);
    RayTracer tracer(scene, opt.size);
    tracer.render(opt.threads);
    if (!tracer.matches()) {
        std::puts("FAILED: the canvas differs from a sequential rendering");
        return 1;
    }
    std::puts("ok");
    return 0;
}
