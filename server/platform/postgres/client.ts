import pg from 'pg';
import { noteDatabaseError } from './away.ts';

type Connected = (error: Error | null, client?: pg.Client) => void;

/**
 * pg's client, which notes the errors of its connection. The system's errors look the same whoever meets them: ENOTFOUND may be
 * the database's host, or that of a server a user named.
 */
export class DatabaseClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // pg fails every query under way with the error it emits here. Queries are told later than this.
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
