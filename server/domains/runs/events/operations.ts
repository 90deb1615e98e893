import { operation, streamOperation } from '../../../operation/operation.ts';
import { RUNS } from '../tag.ts';
import { listEvents } from './list.ts';
import { ListEventsInput, ListEventsOutput, RunEventSchema, StreamEventsInput } from './schemas.ts';
import { streamEvents } from './stream.ts';

/** The operations on the events of a run. */
export const eventOperations = [
  operation({
    name: 'runs_list_events',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/events',
    status: 200,
    tag: RUNS,
    summary: 'Read the event log of a run, oldest first',
    description: `A list like every other, but for its \`limit\`; \`after\` reads on from an event's \`seq\`. Values over 16 KiB stand as \`<field>_ref: {payload_id, bytes}\`. A refused
start has one event, \`run_rejected\`.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListEventsInput,
    output: ListEventsOutput,
    mcp: { group: 'core' },
    run: listEvents,
  }),
  streamOperation({
    name: 'runs_stream_events',
    path: '/v1/workflows/{id}/runs/{runID}/stream',
    tag: RUNS,
    summary: 'Watch the events of a run live (server-sent events)',
    description: `Each event is one server-sent event with its \`seq\` as \`id\`: first those of the log after \`Last-Event-ID\` or \`after\`, then each as it is committed, until
the run has ended. A client that comes back with the last id that it has misses nothing; 204 tells it that the run has ended and it has all
events. Comments keep the connection open; a client that is 1 MiB behind is cut off.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    headers: ['Last-Event-ID'],
    input: StreamEventsInput,
    output: RunEventSchema,
    run: streamEvents,
  }),
] as const;
