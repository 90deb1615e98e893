import { operation } from '../../../operation/operation.ts';
import { RunRef } from '../schemas.ts';
import { RUNS } from '../tag.ts';
import { getContext } from './context.ts';
import { getPayload } from './payload.ts';
import { PayloadInput, PayloadOutput, RunContext } from './schemas.ts';

/** The operations that return the values of a run. */
export const valueOperations = [
  operation({
    name: 'runs_get_context',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/context',
    status: 200,
    tag: RUNS,
    summary: "Get a run's input and the results of its steps",
    description:
      'Large results are included up to 8 MiB in all; beyond that `result` is null and `result_ref` names the payload.',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunRef,
    output: RunContext,
    mcp: { group: 'core' },
    run: getContext,
  }),
  operation({
    name: 'runs_get_payload',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/payloads/{payload_id}',
    status: 200,
    tag: RUNS,
    summary: 'Read one large value that an event refers to',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: PayloadInput,
    output: PayloadOutput,
    run: getPayload,
  }),
] as const;
