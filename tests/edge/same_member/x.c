static int secret = 3;
int from_x(void)
{
    return secret++;
}
