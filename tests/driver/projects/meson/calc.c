static int memory;
int calc_add(int x)
{
    return memory += x;
}
