int level = 100;
int setting(void)
{
    return level + 1;
}
