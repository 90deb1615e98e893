import type { Context, Principal } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { DEFAULT_KIND, type WorkflowKind } from '../../../operation/workflow-kinds.ts';
import type { StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { forbidden } from '../../../platform/errors.ts';
import { CHAT_TRIGGER } from '../triggers/chat.ts';
import { listUnreadable } from './store.ts';

/**
 * Everyone who reads the runs of a project can read their contents (docs/chat.md), with one exception: if a run answers
 * a message of a private thread, only the owner of the thread can read its contents and those of the runs that it
 * calls. Lists show these runs to everyone, with their state and cost, so a refusal gives the reason.
 */
type Reading = Pick<Services, 'pool'>;
type Reader = Pick<Principal, 'tenantId' | 'userId'>;

/** The trigger types of runs whose contents may be closed: runs that answer a message, and runs that a step called. */
const MAY_BE_CLOSED: ReadonlySet<string> = new Set([CHAT_TRIGGER, 'call_workflow']);

/**
 * Throws AppError 403 `private_run` if the run answers a message of somebody else's private thread, or was called by a
 * run that does.
 */
export async function requireReader(
  { services, principal }: Pick<Context, 'services' | 'principal'>,
  run: { id: string; trigger_type: string },
): Promise<void> {
  // A start may claim one of these types, which then costs a query. A closed run always has one of them.
  if (MAY_BE_CLOSED.has(run.trigger_type)) await requireReadable(services, principal, run.id);
}

/** Like `requireReader`, for callers that know only the run's id. The run may not have started yet. */
export async function requireReadable({ pool }: Reading, reader: Reader, runId: string): Promise<void> {
  const unreadable = await listUnreadable(pool, reader, [runId]);
  if (unreadable.length > 0)
    throw forbidden(
      'This run belongs to the answer to a message of a private thread, which only its owner can read, or of a thread that was deleted.',
      'private_run',
    );
}

/** The maximum number of runs remembered for one stream. Beyond that, all are looked up again. */
const MAX_KNOWN = 1_000;
/** The maximum number of events of one stream that may wait for the database to return who may read them. */
const MAX_WAITING = 10_000;
type Listener = (items: readonly StreamItem[]) => void;

/** Removes the events that a reader may not see from a workflow's events. */
export class ReadableItems {
  readonly #services: Reading;
  readonly #reader: Reader;
  readonly #answers: boolean;
  readonly #known = new Map<string, boolean>();

  /** `kind`: the kind of the workflow. */
  constructor(services: Reading, reader: Reader, kind: WorkflowKind) {
    this.#services = services;
    this.#reader = reader;
    this.#answers = kind !== DEFAULT_KIND;
  }

  /**
   * Returns a listener that passes on the events that the reader may see, in their order. `failed` is called if the
   * database fails, or if too many events wait for it.
   */
  listener(deliver: Listener, failed: () => void): Listener {
    let last = Promise.resolve();
    let waiting = 0;
    return items => {
      if (waiting === 0 && items.every(item => this.#isOpen(item))) return deliver(items);
      waiting += items.length;
      if (waiting > MAX_WAITING) return failed();
      last = last
        .then(async () => {
          deliver(await this.filter(items));
          waiting -= items.length;
        })
        .catch(failed);
    };
  }

  async filter(items: readonly StreamItem[]): Promise<readonly StreamItem[]> {
    const unsure = items.filter(item => !this.#isOpen(item));
    const asked = [...new Set(unsure.map(({ item }) => item.runId))].filter(id => !this.#known.has(id));
    if (asked.length > 0) {
      const unreadable = new Set(await listUnreadable(this.#services.pool, this.#reader, asked));
      if (this.#known.size > MAX_KNOWN) this.#known.clear();
      for (const id of asked) this.#known.set(id, !unreadable.has(id));
    }
    return items.filter(({ item }) => this.#known.get(item.runId) !== false);
  }

  /** Only agents answer messages: in any other workflow, only a called run can be closed. */
  #isOpen({ kind, item }: StreamItem): boolean {
    return !this.#answers && (kind === 'rejected' || item.called !== true);
  }
}
