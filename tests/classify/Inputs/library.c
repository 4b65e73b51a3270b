/* The library's part of loads_library.c: a limit that is made without order. */
static int limit, made;

void library_make(void)
{
    limit = 10;
    made = 1;
}

int library_limit(void)
{
    return made ? limit : 10;
}
