import pg from 'pg';
import { readJson } from '../json-text.ts';
import { noteDatabaseError } from './away.ts';

// pg's own parser rounds integers beyond 2^53.
pg.types.setTypeParser(pg.types.builtins.JSON, readJson);
pg.types.setTypeParser(pg.types.builtins.JSONB, readJson);

type Connected = (error: Error | null, client?: pg.Client) => void;

/**
 * pg's client, which marks the errors of its own connection. System errors look the same in every client: ENOTFOUND may
 * concern the database's host, or the host of a server that a user named.
 */
export class DatabaseClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // pg fails every query in flight with the error that it emits here. The queries see it after this handler.
    this.on('error', noteDatabaseError);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    if (callback === undefined) {
      return super.connect().catch(error => {
        throw noteDatabaseError(error);
      });
    }
    const connected: Connected = (error, client) => callback(noteDatabaseError(error), client);
    super.connect(connected);
    return undefined;
  }
}
