import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { type LoadOrder, ownCpuSeconds, tellParent } from './protocol.ts';

/**
 * A load client in a separate process, so that its CPU is measured separately from the server's. It has several keep-alive connections,
 * with one request at a time on each. Each request is one prepared buffer on a raw socket: node:http's client costs more per request than
 * the server does, and client, server and PostgreSQL share two cores.
 */
process.once('message', (order: LoadOrder) => void run(order));

async function run(order: LoadOrder): Promise<void> {
  const request = requestBytes(order, '');
  const { hostname, port } = new URL(order.url);
  const lanes = await Promise.all(
    Array.from({ length: order.connections }, async () => new Lane(await open(Number(port), hostname))),
  );
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let left = order.requests;
  const cpuBefore = ownCpuSeconds();
  const began = performance.now();
  await Promise.all(
    lanes.map(async lane => {
      while (left > 0) {
        left -= 1;
        const sent = performance.now();
        const status = await lane.exchange(order.keyed ? requestBytes(order, randomUUID()) : request);
        latencies.push(performance.now() - sent);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const cpuSeconds = ownCpuSeconds() - cpuBefore;
  for (const lane of lanes) lane.end();
  latencies.sort((a, b) => a - b);
  await tellParent({ seconds, cpuSeconds, latencies, statuses });
  process.disconnect();
}

function requestBytes({ url, token, method, path, body, keyed }: LoadOrder, key: string): Buffer {
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${new URL(url).host}`, `Authorization: Bearer ${token}`];
  if (keyed) head.push(`Idempotency-Key: ${key}`);
  if (body !== null) head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

function open(port: number, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** One connection, on which every answer of the API carries a Content-Length. */
class Lane {
  readonly #socket: Socket;
  #received = '';
  #waiting: { resolve(status: string): void; reject(error: Error): void } | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1'); // one character per byte: lengths are bytes
    socket.on('data', (text: string) => this.#take(text));
    socket.on('close', () => this.#waiting?.reject(new Error('The server closed the connection.')));
  }

  /** Sends the request; settles with the status once the answer is complete. */
  exchange(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  end(): void {
    this.#socket.end();
  }

  #take(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, headEnd))?.[1] ?? '0';
    if (this.#received.length < headEnd + 4 + Number(length)) return;
    const status = this.#received.slice(9, 12);
    this.#received = '';
    this.#waiting?.resolve(status);
  }
}
