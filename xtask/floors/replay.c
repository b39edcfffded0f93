/* An agent that prints the file `stream` two folders up, whatever it is told. */
#include <fcntl.h>
#include <unistd.h>

static char buffer[65536];

int main(void)
{
    int file = open("../../stream", O_RDONLY);
    ssize_t length;
    while ((length = read(file, buffer, sizeof buffer)) > 0) {
        for (ssize_t done = 0; done < length;) {
            ssize_t written = write(1, buffer + done, length - done);
            if (written < 0)
                return 1;
            done += written;
        }
    }
    return length != 0;
}
