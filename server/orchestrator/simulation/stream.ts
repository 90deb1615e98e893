import { readJson } from '../../platform/json-text.ts';
import { expandRow, STEPS_SKIPPED } from '../log/compact-skips.ts';
import type { StoredEvent } from '../log/decode.ts';
import type { EventRow } from '../log/encode.ts';
import type { Orchestrator, StreamItem } from '../ports/orchestrator.ts';
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
  /** The number of the last event before an interruption: the shard of the run was given to another process. */
  readonly #before = new Map<string, number>();
  constructor(server: Server) {
    this.#server = server;
  }

  interrupted(tenantId: string): void {
    this.#server.at.count('stream interrupted');
    for (const runId of this.#last.keys())
      if (this.#server.at.scenario(runId).tenantId === tenantId) {
        this.#before.set(runId, this.#last.get(runId) ?? 0);
        this.#last.delete(runId);
      }
  }

  receive(tenantId: string, items: StreamItem[]): void {
    if (!this.#server.alive) return;
    for (const item of items) {
      if (item.kind !== 'event') continue;
      const { runId, seq, event } = item.item;
      const logged = this.#loggedAs(runId, seq);
      if (logged === undefined) {
        this.#fail(`event ${seq} of ${runId} was streamed, but is not in the log`);
        return;
      }
      if (item.item.tenantId !== tenantId) {
        this.#fail(`event ${seq} of ${runId} went to ${tenantId}`);
        return;
      }
      const same =
        logged.type === event.type && logged.at === event.at && sameJson(logged.json, JSON.stringify(event.data));
      if (!same) {
        this.#fail(`event ${seq} of ${runId} was streamed as ${JSON.stringify(event)}, not as logged`);
        return;
      }
      this.#inOrder(runId, seq);
      if (!this.#server.seam()) return;
    }
  }

  /** Checks that, when nothing is in flight, everything that the current session wrote has been streamed. */
  checkAtRest(): void {
    const { session, postgres } = this.#server;
    for (const { row, events } of postgres.database.runs.values()) {
      const written = events.findLast(({ writer }) => writer === session?.writer);
      const lastWritten = written === undefined ? 0 : lastSeqOf(written);
      const seen = Math.max(this.#last.get(row.id) ?? 0, this.#before.get(row.id) ?? 0);
      if (lastWritten > seen) this.#fail(`event ${lastWritten} of ${row.id} was not streamed`);
    }
  }

  /** Returns the event that the log has under this number. */
  #loggedAs(runId: string, seq: number): { type: string; at: number; json: string } | undefined {
    const rows = this.#server.postgres.database.runs.get(runId)?.events ?? [];
    const row = rows.findLast(each => each.seq <= seq);
    const expanded = row === undefined ? undefined : expandRow(storedAs(row)).find(each => each.seq === seq);
    if (row === undefined || expanded === undefined) return undefined;
    const json = row.type === STEPS_SKIPPED ? JSON.stringify(expanded.data) : row.json;
    return { type: expanded.event_type, at: row.at, json };
  }

  #inOrder(runId: string, seq: number): void {
    const last = this.#last.get(runId);
    this.#last.set(runId, seq);
    if (last === undefined) return;
    if (seq <= last) this.#fail(`event ${seq} of ${runId} was streamed after event ${last}`);
    const rows = this.#server.postgres.database.runs.get(runId)?.events ?? [];
    for (const row of rows) {
      const missing = Math.max(row.seq, last + 1);
      if (missing > Math.min(lastSeqOf(row), seq - 1)) continue;
      // Subscribers miss what other processes wrote without this one's knowledge, unless the feed
      // was interrupted in between.
      if (row.writer === this.#server.session?.writer || !this.#server.at.twoLed)
        this.#fail(`event ${missing} of ${runId} was never streamed`);
    }
  }

  #fail(message: string): void {
    this.#server.at.fail('stream', message);
  }
}

const storedAs = ({ seq, type, step, attempt, json, at }: EventRow): StoredEvent => ({
  seq,
  event_type: type,
  step_id: step,
  attempt,
  data: type === STEPS_SKIPPED ? JSON.parse(json) : {},
  created_at: new Date(at),
});

/** Returns the number of the last event for which a row stands. */
const lastSeqOf = (row: EventRow): number => row.seq + expandRow(storedAs(row)).length - 1;

/** The value after it passed the driver and the log: -0 becomes 0. */
function sameJson(stored: string, shown: string): boolean {
  return stored === shown || JSON.stringify(readJson(stored)) === JSON.stringify(readJson(shown));
}
