import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Ports that the Fetch standard blocks, and that need no privileges. The first free one is used. */
const BLOCKED = [6000, 6666, 10_080, 5060, 5061, 6665, 6667, 6668, 6669, 6679, 6697, 1719, 1720, 1723, 3659, 4190];

/** Forwards a port that browsers refuse to connect to to a server on 127.0.0.1. */
export async function startBlockedPort(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const to = Number(new URL(target).port);
  const server = createServer(socket => {
    const onward = connect(to, '127.0.0.1');
    for (const each of [socket, onward]) {
      sockets.add(each);
      each.on('error', () => undefined).on('close', () => sockets.delete(each));
    }
    socket.pipe(onward).pipe(socket);
  });
  for (const port of BLOCKED) {
    server.listen(port, '127.0.0.1');
    const isListening = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isListening) break;
  }
  if (!server.listening) throw new Error('None of the ports that the Fetch standard blocks is free.');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
