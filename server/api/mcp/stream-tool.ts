import { z } from 'zod';
import { ReadableItems, requireReadable } from '../../domains/runs/access/readers.ts';
import { endsRun, eventOf, replayPages, Selection, type StreamTarget } from '../../domains/runs/events/selection.ts';
import { findWorkflow } from '../../domains/workflows/store.ts';
import { MAX_INTEGER } from '../../operation/wire.ts';
import { hasRole } from '../../orchestrator/ports/authority.ts';
import type { StreamItem } from '../../orchestrator/ports/orchestrator.ts';
import { notFound, unavailable } from '../../platform/errors.ts';
import { hasScope } from '../invoke.ts';
import { readArguments } from './arguments.ts';
import { argumentsSchema } from './operation-tools.ts';
import type { McpCaller, McpOptions, PlatformTool } from './platform-tool.ts';

/** The three caps of a bounded read (docs/specification/mcp.md#bounded-stream). */
const caps = { durationMs: 30_000, messages: 1_000, bytes: 1024 * 1024 };
/** The number of concurrent reads per caller: each one holds a subscription for up to half a minute. */
const MAX_READS_PER_PRINCIPAL = 10;

const Arguments = z
  .strictObject({
    workflow_id: z.uuid().transform(id => id.toLowerCase()),
    run_id: z
      .uuid()
      .transform(id => id.toLowerCase())
      .optional()
      .meta({ description: 'Only the events of this run' }),
    after: z.number().int().min(0).max(MAX_INTEGER).optional().meta({
      description: 'With run_id: first the logged events after this seq (0: all of them), then those that happen',
    }),
    max_duration_ms: z.number().int().min(0).max(caps.durationMs).default(5_000),
    max_messages: z.number().int().min(1).max(caps.messages).default(200),
    max_bytes: z
      .number()
      .int()
      .min(1)
      .max(caps.bytes)
      .default(256 * 1024),
  })
  .refine(({ run_id, after }) => after === undefined || run_id !== undefined, {
    path: ['after'],
    message: 'needs run_id: sequence numbers count within one run',
  });
type Limits = Pick<z.output<typeof Arguments>, 'max_duration_ms' | 'max_messages' | 'max_bytes'>;

type Ending = 'duration' | 'messages' | 'bytes' | 'run_ended' | 'interrupted';
type Frame = { type: 'event'; event: ReturnType<typeof eventOf> } | { type: 'ready' };

/** `workflows_stream_websocket`: the frames that the WebSocket would send, until a cap is reached or the run has ended. */
export function streamTool({ services }: McpOptions): PlatformTool {
  const reading = new Map<string, number>();
  return {
    group: 'websocket',
    risk: false,
    brief: 'Collect the events of a workflow, or of a run until it ends, for a while. Go on with after = last_seq.',
    definition: {
      name: 'workflows_stream_websocket',
      title: 'Watch the events of a workflow for a while',
      description: `A bounded read of GET /v1/workflows/{workflow_id}/stream: returns the frames that come within max_duration_ms,
at most max_messages of them and max_bytes of JSON; ends early once the run of run_id has ended. ended_by says which it was.
To go on, call again with after = last_seq.`,
      inputSchema: argumentsSchema(Arguments),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    usable: principal => hasRole(principal.role, 'project_viewer') && hasScope(principal, 'workflow:read'),
    async call({ principal }: McpCaller, args) {
      const { workflow_id, run_id, after, ...limits } = readArguments(Arguments, args);
      const workflow = await findWorkflow(services.prisma, principal, workflow_id);
      if (!workflow) throw notFound('Workflow');
      if (!services.orchestrator.leads(principal.tenantId)) {
        throw unavailable('not_leading', 'This server is not executing runs at the moment.');
      }
      const query = { ...(run_id === undefined ? {} : { runId: run_id }), ...(after === undefined ? {} : { after }) };
      const readsOfCaller = reading.get(principal.userId) ?? 0;
      if (readsOfCaller >= MAX_READS_PER_PRINCIPAL)
        throw unavailable('too_many_reads', 'Too many stream reads are in progress.');
      reading.set(principal.userId, readsOfCaller + 1);
      try {
        const { id, kind } = workflow;
        const readable = new ReadableItems(services, principal, kind);
        if (run_id !== undefined) await requireReadable(services, principal, run_id);
        return await read(services, { principal, workflowId: id, query }, { limits, readable });
      } finally {
        const remaining = (reading.get(principal.userId) ?? 1) - 1;
        if (remaining > 0) reading.set(principal.userId, remaining);
        else reading.delete(principal.userId);
      }
    },
  };
}

/** Collects frames until a cap is reached or the stream ends. */
class Collected {
  readonly frames: Frame[] = [];
  bytes = 0;
  lastSeq: number | null = null;
  readonly ended: Promise<Ending>;
  readonly end: (why: Ending) => void;
  #open = true;
  readonly #limits: Limits;
  readonly #oneRun: boolean;

  constructor(limits: Limits, oneRun: boolean) {
    this.#limits = limits;
    this.#oneRun = oneRun;
    const { promise, resolve } = Promise.withResolvers<Ending>();
    this.ended = promise;
    this.end = why => {
      this.#open = false;
      resolve(why);
    };
  }

  get open(): boolean {
    return this.#open;
  }

  take(items: readonly StreamItem[]): void {
    for (const item of items) {
      const event = eventOf(item);
      if (!this.#add({ type: 'event', event })) return;
      if (this.#oneRun) this.lastSeq = event.seq;
      if (this.#oneRun && endsRun(item)) this.end('run_ended');
    }
  }

  ready(): void {
    this.#add({ type: 'ready' });
  }

  /** Returns false if the frame exceeds a cap: it is left for the next read. */
  #add(frame: Frame): boolean {
    if (!this.#open) return false;
    const bytes = Buffer.byteLength(JSON.stringify(frame));
    // The first frame is always included; otherwise a reader could never get past a large frame.
    if (this.bytes + bytes > this.#limits.max_bytes && this.frames.length > 0) {
      this.end('bytes');
      return false;
    }
    this.frames.push(frame);
    this.bytes += bytes;
    if (this.frames.length >= this.#limits.max_messages) this.end('messages');
    return true;
  }
}

async function read(
  services: McpOptions['services'],
  target: StreamTarget,
  { limits, readable }: { limits: Limits; readable: ReadableItems },
): Promise<unknown> {
  const { principal, workflowId, query } = target;
  const collected = new Collected(limits, query.runId !== undefined);
  const selection = new Selection(query);
  let held: StreamItem[] | null = [];
  const send = (items: readonly StreamItem[]) => {
    const { fresh, gap } = selection.take(items.filter(({ item }) => item.projectId === principal.projectId));
    collected.take(fresh);
    if (gap) collected.end('interrupted');
  };
  const hear = (items: readonly StreamItem[]) => (held === null ? send(items) : void held.push(...items));
  const interrupted = () => collected.end('interrupted');
  const unsubscribe = services.orchestrator.subscribe(
    { tenantId: principal.tenantId, workflowId, ...(query.runId === undefined ? {} : { runId: query.runId }) },
    readable.listener(hear, interrupted),
    interrupted,
  );
  const timer = setTimeout(() => collected.end('duration'), limits.max_duration_ms);
  try {
    if (query.runId !== undefined && query.after !== undefined) {
      for await (const page of replayPages(services, { ...target, runId: query.runId, after: query.after })) {
        selection.take(page);
        collected.take(page);
        if (!collected.open) break;
      }
    }
    collected.ready();
    const waiting = held;
    held = null;
    send(waiting);
    const ended_by = await collected.ended;
    return { frames: collected.frames, ended_by, last_seq: collected.lastSeq, bytes: collected.bytes };
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}
