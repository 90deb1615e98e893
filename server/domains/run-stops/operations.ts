import { operation } from '../../contract/operation.ts';
import { getStop, listStops } from './read.ts';
import { previewStop, stopRuns } from './request.ts';
import {
  ListStopsInput,
  ListStopsOutput,
  PreviewStopInput,
  PreviewStopOutput,
  StopJob,
  StopRef,
  StopRunsInput,
} from './schemas.ts';

const tag = 'Runs';
const access = 'tenant_admin';

/** Stopping many runs at once. */
export const runStopOperations = [
  operation({
    name: 'runs_stop',
    method: 'POST',
    path: '/v1/runs/stop',
    status: 202,
    tag,
    summary: 'Stop the active runs that a filter matches, in turns',
    description: `The answer is a bulk stop that the service works on, also after a restart; \`GET /v1/runs/stops/{stop_id}\` says how far it has got.
A few runs are stopped at a time, so that other writes do not wait. The filter is applied again until nothing is left: runs that start meanwhile
are stopped too if they match, for ten minutes, and what a stopped run has called is stopped whether it matches or not. The same request, while it is
unfinished, is the same bulk stop. 429 \`too_many_stops\` where the workspace has 20 unfinished ones.`,
    access,
    scope: 'workflow:run',
    errors: [404],
    input: StopRunsInput,
    output: StopJob,
    mcp: { group: 'core', hints: { destructive: true, idempotent: true } },
    run: stopRuns,
  }),
  operation({
    name: 'runs_preview_stop',
    method: 'POST',
    path: '/v1/runs/stop-preview',
    status: 200,
    tag,
    summary: 'Count the active runs that a bulk stop would match now',
    access,
    scope: 'workflow:read',
    errors: [404],
    input: PreviewStopInput,
    output: PreviewStopOutput,
    mcp: { group: 'core', tool: false, hints: { readOnly: true } },
    run: previewStop,
  }),
  operation({
    name: 'runs_list_stops',
    method: 'GET',
    path: '/v1/runs/stops',
    status: 200,
    tag,
    summary: 'List bulk stops, newest first',
    description: 'All that are unfinished, and the last 100 that have finished.',
    access,
    scope: 'workflow:read',
    input: ListStopsInput,
    output: ListStopsOutput,
    mcp: { group: 'core', tool: false },
    run: listStops,
  }),
  operation({
    name: 'runs_get_stop',
    method: 'GET',
    path: '/v1/runs/stops/{stop_id}',
    status: 200,
    tag,
    summary: 'Read how far a bulk stop has got',
    access,
    scope: 'workflow:read',
    input: StopRef,
    output: StopJob,
    mcp: { group: 'core', tool: false },
    run: getStop,
  }),
] as const;
