import { Socket } from 'node:net';
import type pg from 'pg';
import { systemAlarm } from '../../platform/clock.ts';
import { pause } from '../../platform/deadlines.ts';
import { DatabaseClient } from '../../platform/postgres/client.ts';

/** The server ends a session that has been silent for this long, so that a node that is frozen is none. */
const LEASE_MS = 10_000;
/** The longest that a statement of the session may take. */
const STATEMENT_TIMEOUT_MS = 4_000;

const END_TIMEOUT_MS = 2_000;

/** The session by which a node is there: it holds the lock of the node's id, and reads who else is. */
export type MemberSession = {
  readonly client: pg.Client;
  /** The address of this machine from which the database is reached; undefined through a Unix socket. */
  readonly localAddress: string | undefined;
  /** Aborts when the session is gone. */
  readonly lost: AbortSignal;
  /** Ends the session; its locks are free at once. */
  end(): Promise<void>;
};

/** Opens a session for a node. Throws what the database or the network says. */
export async function openMemberSession(connectionString: string): Promise<MemberSession> {
  const socket = new Socket();
  const client = new DatabaseClient({
    connectionString,
    application_name: 'baton-member',
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    connectionTimeoutMillis: 5_000,
    // Also where not even the error of a statement arrives.
    query_timeout: STATEMENT_TIMEOUT_MS + 500,
    stream: () => socket,
  });
  const gone = new AbortController();
  const lose = (cause: unknown) => gone.abort(cause);
  client.on('error', lose);
  client.on('end', () => lose(new Error('the session ended')));
  try {
    await client.connect();
    await client.query(
      `SET idle_session_timeout = ${LEASE_MS}; SET idle_in_transaction_session_timeout = ${LEASE_MS}; SET statement_timeout = ${STATEMENT_TIMEOUT_MS}; SET lock_timeout = 0`,
    );
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return {
    client,
    localAddress: socket.localAddress,
    lost: gone.signal,
    async end() {
      const ended = client.end().catch(() => undefined);
      await Promise.race([ended, pause(systemAlarm, END_TIMEOUT_MS, gone.signal)]);
      socket.destroy();
    },
  };
}

/**
 * Returns the address of this node for others: the one from which it reaches the database, or this machine's own where that
 * is a Unix socket, since the database is then on the same machine.
 */
export function nodeUrlOf(localAddress: string | undefined, port: number): string {
  const address = (localAddress ?? '127.0.0.1').replace(/^::ffff:/, '');
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
