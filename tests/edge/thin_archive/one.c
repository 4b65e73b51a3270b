int data[3] = {1, 2, 3};
int one(int i)
{
    return data[i]++;
}
