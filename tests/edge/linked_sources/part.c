static int k = 8;
int part(int x)
{
    return k += x;
}
