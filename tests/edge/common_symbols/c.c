long initialised = 77;
int buffer[10];
