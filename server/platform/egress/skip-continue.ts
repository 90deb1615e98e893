import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

const STARTS = ['HTTP/1.1 100 ', 'HTTP/1.1 100\r', 'HTTP/1.0 100 ', 'HTTP/1.0 100\r'];
const START_LENGTH = 13;
const END = '\r\n\r\n';
/** The same limit as for the headers of a response. The parser refuses a longer `100 Continue`. */
const MAX_CONTINUE_BYTES = 16 * 1024;

/**
 * Connects like `connect`, and removes `100 Continue` from the start of a server's answer. RFC 9110, 15.2: a client must be able
 * to parse it even if it does not expect it. undici ends the connection instead, as if no answer had arrived.
 */
export function skippingContinue(connect: buildConnector.connector): buildConnector.connector {
  return (options, done) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return done(error, null);
      skipContinue(socket);
      done(null, socket);
    });
}

/** Removes `100 Continue` from the answers on a socket. undici sends one request at a time on it, so each write begins a new answer. */
function skipContinue(socket: Socket): void {
  const write = socket.write.bind(socket);
  const read = socket.read.bind(socket);
  let atStart = true;
  let held: Buffer | null = null;
  socket.write = ((...args: Parameters<typeof write>) => {
    atStart = true;
    return write(...args);
  }) as typeof socket.write;
  socket.read = size => {
    const chunk: Buffer | null = read(size);
    if (!atStart || chunk === null) return chunk;
    const rest = withoutContinue(held === null ? chunk : Buffer.concat([held, chunk]));
    held = rest.isUndecided ? rest.bytes : null;
    atStart = rest.isUndecided || rest.bytes.length === 0;
    // An empty chunk makes the reader continue immediately; null would make it wait.
    return rest.isUndecided ? Buffer.alloc(0) : rest.bytes;
  };
}

/**
 * Returns the bytes after a leading `100 Continue`. `isUndecided`: more bytes must arrive to tell whether the bytes begin with
 * one, and where it ends.
 */
function withoutContinue(bytes: Buffer): { bytes: Buffer; isUndecided: boolean } {
  let at = 0;
  for (;;) {
    const rest = bytes.subarray(at);
    const start = rest.toString('latin1', 0, START_LENGTH);
    if (!STARTS.includes(start)) {
      return { bytes: rest, isUndecided: start !== '' && STARTS.some(each => each.startsWith(start)) };
    }
    const end = bytes.indexOf(END, at, 'latin1');
    if (end === -1) return { bytes: rest, isUndecided: rest.length < MAX_CONTINUE_BYTES };
    at = end + END.length;
  }
}
