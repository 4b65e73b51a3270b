void library_write(int *at);
int library_read(const int *at);

void library_write(int *at)
{
    *at = 1;
}

int library_read(const int *at)
{
    return *at;
}
