import type { Orchestrator, StreamItem } from '../../contract/orchestrator.ts';
import { readJson } from '../../platform/json-text.ts';
import { TENANTS } from './scenario.ts';
import type { Server } from './server.ts';

/**
 * Listens to everything that a server streams: only committed events, as in the log, in order, and exactly once for
 * each event that the server wrote and knows of.
 */
export function watchStream(server: Server, orchestrator: Pick<Orchestrator, 'subscribe'>): Listener {
  const listener = new Listener(server);
  for (const tenantId of TENANTS) {
    orchestrator.subscribe(
      { tenantId },
      items => server.at.check(() => listener.receive(tenantId, items)),
      () => listener.interrupted(tenantId),
    );
  }
  return listener;
}

export class Listener {
  readonly #server: Server;
  /** The number of the last event seen of each run. */
  readonly #last = new Map<string, number>();
  constructor(server: Server) {
    this.#server = server;
  }

  interrupted(tenantId: string): void {
    this.#server.at.count('stream interrupted');
    for (const runId of this.#last.keys())
      if (this.#server.at.scenario(runId).tenantId === tenantId) this.#last.delete(runId);
  }

  receive(tenantId: string, items: StreamItem[]): void {
    if (!this.#server.alive) return;
    for (const item of items) {
      if (item.kind !== 'event') continue;
      const { runId, seq, event } = item.item;
      const row = this.#server.postgres.database.runs.get(runId)?.events[seq - 1];
      if (row === undefined) {
        this.#fail(`event ${seq} of ${runId} was streamed, but is not in the log`);
        return;
      }
      if (item.item.tenantId !== tenantId) {
        this.#fail(`event ${seq} of ${runId} went to ${tenantId}`);
        return;
      }
      const same = row.type === event.type && row.at === event.at && sameJson(row.json, JSON.stringify(event.data));
      if (!same) {
        this.#fail(`event ${seq} of ${runId} was streamed as ${JSON.stringify(event)}, not as logged`);
        return;
      }
      this.#inOrder(runId, seq);
      if (!this.#server.seam()) return;
    }
  }

  /** When nothing is in flight, everything that the current session wrote must have been streamed. */
  checkAtRest(): void {
    const { session, postgres } = this.#server;
    for (const { row, events } of postgres.database.runs.values()) {
      const written = events.findLast(({ writer }) => writer === session?.writer);
      if (written !== undefined && written.seq > (this.#last.get(row.id) ?? 0))
        this.#fail(`event ${written.seq} of ${row.id} was not streamed`);
    }
  }

  #inOrder(runId: string, seq: number): void {
    const last = this.#last.get(runId);
    this.#last.set(runId, seq);
    if (last === undefined) return;
    if (seq <= last) this.#fail(`event ${seq} of ${runId} was streamed after event ${last}`);
    const rows = this.#server.postgres.database.runs.get(runId)?.events ?? [];
    for (const row of rows.slice(last, seq - 1)) {
      // Subscribers miss what other processes wrote without this one's knowledge, unless the feed
      // was interrupted in between.
      if (row.writer === this.#server.session?.writer || !this.#server.at.twoLed)
        this.#fail(`event ${row.seq} of ${runId} was never streamed`);
    }
  }

  #fail(message: string): void {
    this.#server.at.fail('stream', message);
  }
}

/** The value after it passed the driver and the log: -0 becomes 0. */
function sameJson(stored: string, shown: string): boolean {
  return stored === shown || JSON.stringify(readJson(stored)) === JSON.stringify(readJson(shown));
}
