import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SeenRequest = {
  method: string;
  /** Includes the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Settles if the client disconnects before the answer is complete. */
  left: Promise<void>;
};

export type Handler = (request: SeenRequest, response: ServerResponse) => void;

export type TestHttpServer = {
  /** Without a path. */
  url: string;
  seen: SeenRequest[];
  close(): Promise<void>;
};

/** A real HTTP server that records its requests. Paths without a handler are 404. */
export async function startHttpServer(handlers: Readonly<Record<string, Handler>>): Promise<TestHttpServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    record(request, response).then(
      recorded => {
        seen.push(recorded);
        const { pathname } = new URL(recorded.path, 'http://server.test');
        const handler = handlers[pathname];
        if (handler === undefined) response.writeHead(404, { 'content-type': 'text/plain' }).end(`no ${pathname}`);
        else handler(recorded, response);
      },
      error => response.destroy(error),
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function record(request: IncomingMessage, response: ServerResponse): Promise<SeenRequest> {
  const left = new Promise<void>(resolve =>
    response.on('close', () => {
      if (!response.writableFinished) resolve();
    }),
  );
  const { method = '', url: path = '', headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return { method, path, headers, body: Buffer.concat(chunks).toString('latin1'), left };
}

/** A handler that answers with JSON. */
export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
