extern __thread int a, from_library;
extern __thread char b[];
extern __thread long zero;
long use(int k)
{
    a += k;
    b[0]++;
    from_library += 2;
    return a + b[0] + zero++ + from_library;
}
