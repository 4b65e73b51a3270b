extern const char *registered[];
extern int n_registered;
int plugin_anchor;
__attribute__((constructor)) static void enlist(void)
{
    registered[n_registered++] = "plugin";
}
