void lib_work(void);
int main(void)
{
    lib_work();
    return 0;
}
