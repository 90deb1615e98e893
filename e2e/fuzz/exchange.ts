import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { malformed, type World, wellFormed } from './requests.ts';
import { Source } from './source.ts';
import { upgrade } from './upgrades.ts';

/** The longest that a connection may stay open after everything was sent. */
const CLOSED_WITHIN_MS = 15_000;
/** The number of pipelined requests on one connection. */
const PIPELINED = 32;

/** The bytes of one connection, which depend only on seed and number. */
export type Batch = {
  number: number;
  cases: string[];
  /** The frames of an upgrade, sent once it has been answered. */
  frames: string;
  /** Whether the client closes its side; otherwise a last request asks the server to close. */
  closes: boolean;
  /** Where the bytes are split into writes. */
  cuts: number[];
};

/**
 * Returns a batch. Most batches are pipelined requests on one connection. Each of the others has a separate connection, which the server is
 * expected to close.
 */
export function batchOf(seed: number, number: number, world: World): Batch {
  const source = new Source(seed, number);
  const kind = source.between(0, 5);
  const [handshake, frames] = kind === 1 ? upgrade(source, world) : ['', ''];
  // Sometimes the frames are sent without waiting.
  const hasty = source.oneIn(3);
  const cases =
    kind === 0
      ? [malformed(source, world)]
      : kind === 1
        ? [hasty ? handshake + frames : handshake]
        : source.many(PIPELINED, PIPELINED, () => wellFormed(source, world));
  const length = cases.reduce((sum, one) => sum + one.length, 0);
  const cuts = source.oneIn(4) ? source.many(1, 6, () => source.between(0, length)).sort((a, b) => a - b) : [];
  return { number, cases, frames: hasty ? '' : frames, closes: kind < 2, cuts };
}

const LAST_REQUEST = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n';

/** How a connection ended: the statuses of its answers, and the problem, if there was one. */
export type Outcome = { statuses: number[]; problem: string | null };

/** Sends a batch and waits until the server has closed the connection. */
export async function exchange(port: number, batch: Batch): Promise<Outcome> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  let text = '';
  let refused = false;
  // A server may close the connection after a request. If others are unread, this resets the connection, and the system
  // discards answers that had arrived. Whether the service is alive is checked separately.
  let reset = false;
  socket.setEncoding('latin1');
  socket.on('data', chunk => {
    text += chunk;
  });
  const answered = new Promise<void>(resolve => socket.once('data', () => resolve()));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    refused ||= error.code === 'ECONNREFUSED';
    reset ||= error.code === 'ECONNRESET' || error.code === 'EPIPE';
  });
  const closed = new Promise<boolean>(resolve => {
    const timer = setTimeout(() => resolve(false), CLOSED_WITHIN_MS);
    const finish = () => {
      clearTimeout(timer);
      resolve(true);
    };
    socket.once('end', finish);
    socket.once('close', finish);
  });
  const bytes = Buffer.from(batch.cases.join('') + (batch.closes ? '' : LAST_REQUEST), 'latin1');
  let at = 0;
  for (const cut of [...batch.cuts, bytes.length]) {
    if (socket.destroyed) break;
    socket.write(bytes.subarray(at, cut));
    at = cut;
    if (batch.cuts.length > 0) await turn();
  }
  if (batch.frames !== '') {
    await Promise.race([answered, closed]);
    if (!socket.destroyed) socket.write(Buffer.from(batch.frames, 'latin1'));
  }
  if (batch.closes) socket.end();
  const inTime = await closed;
  socket.destroy();
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  const failed = statuses.find(status => status >= 500 && ![501, 503, 505].includes(status));
  const problem = !inTime
    ? `the connection was still open after ${CLOSED_WITHIN_MS} ms`
    : refused
      ? 'the service takes no connections'
      : failed !== undefined
        ? `a request was answered with ${failed}: ${text.slice(text.indexOf(`HTTP/1.1 ${failed}`)).slice(0, 600)}`
        : !batch.closes && !reset && statuses.length === 0
          ? 'none of the requests was answered'
          : null;
  return { statuses, problem };
}
