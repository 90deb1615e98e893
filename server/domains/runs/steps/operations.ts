import { operation } from '../../../operation/operation.ts';
import { RUNS } from '../tag.ts';
import { getPrompt } from './prompt.ts';
import { RunPrompt, RunStep, RunStepInput } from './schemas.ts';
import { getStep } from './step.ts';

/** The operations that show a step of a run. */
export const stepOperations = [
  operation({
    name: 'runs_get_step',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/steps/{step_id}',
    status: 200,
    tag: RUNS,
    summary: 'Get one step of a run: its definition, resolved values and result',
    description: `\`resolved\` holds the fields that have templates, with the values of this run, and the values that a script or an expression names. A value of more than 64 KiB is left out,
with the reason in \`problem\`. A result of more than 4 MiB is a \`result_ref\`.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunStepInput,
    output: RunStep,
    run: getStep,
  }),
  operation({
    name: 'runs_get_prompt',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/steps/{step_id}/prompt',
    status: 200,
    tag: RUNS,
    summary: 'Read what a turn of an agent sent its model',
    description: `Of a turn, or of a compaction of a conversation: the messages and tools as they were sent, made again from the log. A part of more than 64 KiB
is shown without its middle. 404 for any other step, and for one that has not been started.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunStepInput,
    output: RunPrompt,
    run: getPrompt,
  }),
] as const;
