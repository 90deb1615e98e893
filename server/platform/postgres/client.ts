import pg from 'pg';
import { readJson } from '../json-text.ts';
import { noteDatabaseError } from './away.ts';
import { firstServerUrl, type ListedServer, parseServerList } from './server-list.ts';
import { type Standing, WriterSearch } from './writer-search.ts';

// pg's own parser rounds integers beyond 2^53.
pg.types.setTypeParser(pg.types.builtins.JSON, readJson);
pg.types.setTypeParser(pg.types.builtins.JSONB, readJson);

type Connected = (error: Error | null, client?: pg.Client) => void;

/** The searches by list of servers, so that all connections share their results. */
const searches = new Map<string, WriterSearch>();

/** Returns the search among the servers of a URL; undefined if it names one server. */
export function writerSearch(url: string): WriterSearch | undefined {
  const known = searches.get(url);
  if (known !== undefined) return known;
  const list = parseServerList(url);
  if (list === undefined || 'problem' in list) return undefined;
  const search = new WriterSearch(list.servers, probe);
  searches.set(url, search);
  return search;
}

/**
 * pg's client, for the URL of one server or of several: then each connection goes to the server that can write, and ends when
 * another one becomes it. It marks the errors of its own connection. System errors look the same in every client: ENOTFOUND may
 * concern the database's host, or the host of a server that a user named.
 */
export class DatabaseClient extends pg.Client {
  readonly #search: WriterSearch | undefined;
  #isEnded = false;

  constructor(config: pg.ClientConfig = {}) {
    const url = config.connectionString;
    const search = url === undefined ? undefined : writerSearch(url);
    super(search === undefined ? config : { ...config, connectionString: firstServerUrl(url ?? '') });
    this.#search = search;
    // pg fails every query in flight with the error that it emits here. The queries see it after this handler.
    this.on('error', noteDatabaseError);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const search = this.#search;
    if (callback === undefined) {
      const connected = search === undefined ? super.connect() : this.#connectToWriter(search);
      return connected.catch(error => {
        throw noteDatabaseError(error);
      });
    }
    const connected: Connected = (error, client) => callback(noteDatabaseError(error), client);
    if (search === undefined) super.connect(connected);
    else
      void this.#connectToWriter(search).then(
        client => connected(null, client),
        (error: Error) => connected(error),
      );
    return undefined;
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    this.#isEnded = true;
    if (callback === undefined) return super.end();
    super.end(callback);
    return undefined;
  }

  async #connectToWriter(search: WriterSearch): Promise<pg.Client> {
    const server = await search.find();
    const stream = streamOf(this);
    // Its owner may have given up meanwhile; pg would connect all the same.
    if (this.#isEnded || stream.destroyed) throw new Error('Connection terminated');
    aim(this, server);
    this.on('error', () => search.doubt(server));
    try {
      await super.connect();
      if (!(await standing(this)).writes) throw new Error('Connection terminated: the server is no longer the primary');
    } catch (error) {
      search.doubt(server);
      streamOf(this).destroy();
      throw error;
    }
    this.once(
      'end',
      search.join(server, () => streamOf(this).destroy()),
    );
    return this;
  }
}

/** pg reads the address when it connects, and has no setter. */
function aim(client: pg.Client, server: ListedServer): void {
  const { host, port } = new pg.Client({
    host: server.host,
    ...(server.port === undefined ? {} : { port: server.port }),
  });
  Object.assign(client, { host, port });
  // Where pg looks for a password file.
  Object.assign(Reflect.get(client, 'connectionParameters'), { host, port });
}

/** TLS replaces the stream. */
function streamOf(client: pg.Client): { destroyed: boolean; destroy(): void } {
  return Reflect.get(Reflect.get(client, 'connection'), 'stream');
}

async function standing(client: pg.Client): Promise<Standing> {
  const { rows } = await client.query<{ in_recovery: boolean; read_only: boolean; started: string }>(
    `SELECT pg_is_in_recovery() AS in_recovery, current_setting('transaction_read_only') = 'on' AS read_only,
            pg_postmaster_start_time()::text AS started`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database answered without a row');
  return { writes: !row.in_recovery && !row.read_only, isStandby: row.in_recovery, started: row.started };
}

/** The time in which a server must say whether it can write. */
const PROBE_MS = 2_000;

async function probe({ url }: ListedServer): Promise<Standing> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'baton-search',
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await standing(client);
  } finally {
    // Not waited for: a server that does not answer would keep the search waiting.
    void client.end().catch(() => undefined);
  }
}
