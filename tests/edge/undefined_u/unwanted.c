extern const char *registered[];
extern int n_registered;
__attribute__((constructor)) static void enlist(void)
{
    registered[n_registered++] = "must not be pulled in";
}
