int one(int);
int two(int i)
{
    return one(i) * 10 + one(i);
}
