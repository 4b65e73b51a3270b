int app(int, char **);
int main(int argc, char **argv)
{
    return app(argc, argv);
}
