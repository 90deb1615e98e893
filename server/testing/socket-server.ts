import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Servers that write arbitrary bytes to the socket, for tests of clients. */
export type SocketServers = {
  /** Starts a server that calls `answer` for the head of each request, and returns its URL. Default: a free port. */
  serve(answer: (socket: Socket, head: string) => void, port?: number): Promise<string>;
  /** The open connections of all servers. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
};

/** Creates servers on 127.0.0.1 that are closed together. */
export function createSocketServers(): SocketServers {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  return {
    sockets,
    async serve(answer, port = 0) {
      const server = createServer(socket => {
        sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => sockets.delete(socket));
        let head = '';
        socket.on('data', data => {
          head += data;
          if (!head.includes('\r\n\r\n')) return;
          const whole = head;
          head = '';
          answer(socket, whole);
        });
      });
      servers.push(server);
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers.splice(0)) await new Promise(resolve => server.close(resolve));
    },
  };
}
