static int count = 'c';
static int next(void)
{
    return count++;
}
int use_c(void)
{
    next();
    return next();
}
__attribute__((constructor)) static void prepare(void)
{
    count += 100;
}
