/* The least that an agent can do: one line. */
#include <unistd.h>

int main(void) { return write(1, "hello\n", 6) != 6; }
