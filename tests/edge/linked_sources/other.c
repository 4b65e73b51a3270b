static double k = 4;
double other(double x)
{
    return (x *= k++) + 5;
}
