"""A door to a server: forwards one loopback port to another until it is terminated.

    python door.py PORT SERVER_PORT

Prints a line once it listens. Its end cuts every connection that goes through it; it ends at the
latest when its standard input does, that is, with the process that started it.
"""

import asyncio
import os
import sys
import threading

CHUNK = 1 << 16


async def pump(reader, writer):
    try:
        while data := await reader.read(CHUNK):
            if len(data) == CHUNK:
                # As on a network, much data takes its time. `test_connection_dropped` relies on it:
                # the answer to a megabyte must not come before its client has turned to the next
                # thing in its queue, which is to drop the connection.
                await asyncio.sleep(0.001)
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # One side is gone: so is the other, below.
    finally:
        writer.close()


def end_with_input():
    sys.stdin.read()
    os._exit(0)


async def main(port, server_port):
    async def enter(reader, writer):
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", server_port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, server_writer), pump(server_reader, writer))

    listener = await asyncio.start_server(enter, "127.0.0.1", port)
    threading.Thread(target=end_with_input, daemon=True).start()
    print("open", flush=True)
    await listener.serve_forever()


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
