// BROKEN: scale
// Rows of a matrix, worked on in two phases with all threads joined in between.
#include "all.h"
class Matrix {
    std::vector<std::vector<double>> rows;

public:
    double scale = 0;
    explicit Matrix(size_t n) : rows(n, std::vector<double>(n, 1.0)) {}
    size_t size() const { return rows.size(); }
    void fill(size_t i)
    {
        for (size_t k = 0; k < rows[i].size(); k++)
            rows[i][k] = (double)(i + k);
    }
    void normalise(size_t i)
    {
        for (double &x : rows[i])
            x /= scale;
    }
    double largest() const
    {
        double most = 0;
        for (const auto &row : rows)
            for (double x : row)
                most = x > most ? x : most;
        return most;
    }
};

int main()
{
    Matrix m(8);
    std::vector<std::thread> first, second;
    for (size_t i = 0; i < m.size(); i++)
        first.emplace_back(&Matrix::fill, &m, i);
    for (auto &t : first)
        t.join();
#ifndef BROKEN
    m.scale = m.largest();
#endif
    for (size_t i = 0; i < m.size(); i++)
        second.emplace_back([&m, i] { m.normalise(i); });
#ifdef BROKEN
    m.scale = 2;
#endif
    for (auto &t : second)
        t.join();
    printf("%f\n", m.largest());
}
