import type { IncomingMessage, ServerResponse } from 'node:http';
import { demoMcpPath } from '../../operation/demo-mcp.ts';
import type { Clock } from '../../platform/clock.ts';
import { type DemoCallers, foreignReason } from '../demo-callers.ts';
import type { DemoSession } from './session.ts';

/** Anyone who reaches the port may open a session: beyond this number, the least recently used one is closed. */
const MAX_SESSIONS = 64;
const IDLE_MS = 10 * 60_000;

type Session = DemoSession & { usedAt: number };

/** The MCP server that comes with Baton, for trying workflows. */
export type DemoMcp = {
  /** Returns whether a request is for it. */
  serves(url: string | undefined): boolean;
  /** Answers a request. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
};

export type DemoMcpOptions = {
  clock: Clock;
  allowed: DemoCallers;
};

/**
 * Creates a server for Streamable HTTP with sessions. It needs no credentials and ignores any that are sent, so a
 * connection with a token can be tried on it. Its tools neither store nor call anything.
 */
export function createDemoMcp({ clock, allowed }: DemoMcpOptions): DemoMcp {
  /** The sessions, least recently used first. */
  const sessions = new Map<string, Session>();

  async function end(id: string): Promise<void> {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.server.close();
  }

  async function makeRoom(): Promise<void> {
    const longAgo = clock.now() - IDLE_MS;
    for (const [id, { usedAt }] of [...sessions]) {
      if (usedAt <= longAgo || sessions.size >= MAX_SESSIONS) await end(id);
    }
  }

  async function open(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await makeRoom();
    // The SDK is 200 modules, 70 ms of every start; the first session loads it.
    const { openDemoSession } = await import('./session.ts');
    const { server, transport } = await openDemoSession({
      opened: (id, session) => void sessions.set(id, { ...session, usedAt: clock.now() }),
      closed: id => void sessions.delete(id),
    });
    await transport.handleRequest(request, response);
    if (transport.sessionId === undefined) await server.close();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = foreignReason(name => request.headers[name]?.toString(), allowed);
    if (refusal !== null) return refuse(response, 403, refusal);
    const id = request.headers['mcp-session-id'];
    if (id === undefined) {
      if (request.method === 'POST') return await open(request, response);
      response.setHeader('Allow', 'POST');
      return refuse(response, 405, 'A session starts with a POST.');
    }
    const session = sessions.get(String(id));
    if (!session) return refuse(response, 404, 'Session not found');
    sessions.delete(String(id));
    sessions.set(String(id), { ...session, usedAt: clock.now() });
    await session.transport.handleRequest(request, response);
  }

  return {
    serves: url => url === demoMcpPath || (url?.startsWith(`${demoMcpPath}?`) ?? false),
    async handle(request, response) {
      response.on('error', () => undefined);
      await serve(request, response).catch(() => {
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'The demo server failed.');
      });
    },
    async close() {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }));
}
