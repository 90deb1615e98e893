import { z } from 'zod';
import { isId } from '../../../platform/ids.ts';
import { JsonValueSchema } from '../../../platform/zod-json.ts';
import type { GraphStep, JsonMap } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type { Attempt, CheckScope, Outcome, StepProblem, StepType } from '../../ports/step-type.ts';
import { fieldReader, InvalidStep, ownFields, unavailableMessage } from '../common-fields.ts';
import { failed, outcomeOf } from '../failure.ts';
import { outsideOf, privateOf } from '../outside.ts';
import { stepsInTemplates } from '../reads.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';
import type { WorkflowCaller } from './workflow-caller.ts';

const MAX_ID_LENGTH = 1_000;
const MAX_VERSION = 2_147_483_647;

const fields = z.strictObject({
  workflow_id: z.string().max(MAX_ID_LENGTH).meta({ description: 'A workflow of the same project; may be a template' }),
  version: z.number().int().min(1).max(MAX_VERSION).optional().meta({
    description: 'Default: the latest when the step starts',
  }),
  input: z.record(z.string(), JsonValueSchema).optional().meta({
    description: 'The input of the called run; may contain templates',
  }),
  detach: z.boolean().optional().meta({
    description: 'Default false: the step waits for the called run and takes its output. true: its result is {run_id}',
  }),
});
const read = fieldReader(fields);
const unavailable = unavailableMessage('call_workflow', 'this server starts no other runs');

/**
 * `call_workflow` (docs/specification/steps.md#call_workflow): the first attempt decides which run is called, and the
 * second one returns the output of that run. Without `caller`, as in a simulation, only drafts may contain the type.
 */
export function callWorkflow(caller: WorkflowCaller | undefined): StepType {
  return {
    type: 'call_workflow',
    ...description,
    ...facts,
    fields,
    available: caller ? true : { message: unavailable },
    external: true,
    dataFields: ['input'],
    filledFields: ['input'],
    // The called workflow may ask people.
    approvalFields: ['workflow_id', 'version'],
    rawFields: [],
    trial: { replacedBecause: () => 'starts_runs' },
    reads: stepsInTemplates,
    check: (step, scope) => check(caller, step, scope),
    async execute(attempt, signal) {
      if (!caller) return failed('step_type_unavailable', unavailable);
      try {
        return await (attempt.child == null ? call(caller, attempt, signal) : result(caller, attempt, signal));
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

async function call(caller: WorkflowCaller, attempt: Attempt, signal: AbortSignal): Promise<Outcome> {
  const { workflow_id, version, input = {}, detach = false } = read(attempt.step);
  const rendering = new Rendering(attempt);
  const workflowId = rendering.text('workflow_id', workflow_id).toLowerCase();
  if (!isId(workflowId)) throw new InvalidStep('workflow_id: is not the id of a workflow');
  const called = { workflowId, version, input: rendering.value('input', input) as JsonMap };
  const lineage = attempt.lineage ?? { withheldScopes: [] };
  const found = await caller.resolve(attempt.run, called, { lineage, signal });
  if (found.kind === 'failed') return failed(found.code, found.message);
  const outside = outsideOf(input as JsonMap, attempt).join(', ');
  const hidden = privateOf(input as JsonMap, attempt).join(', ');
  const origin = { ...(outside !== '' && { outsideInput: outside }), ...(hidden !== '' && { privateInput: hidden }) };
  const call = { ...called, version: found.version, detach, ...origin };
  return { kind: 'calling', call };
}

async function result(caller: WorkflowCaller, attempt: Attempt, signal: AbortSignal): Promise<Outcome> {
  const { run, child } = attempt;
  if (child == null) throw new Error('the step has called no run');
  const found = await caller.output(run, child, signal);
  if (found.kind === 'failed') return failed(found.code, `The child run ${child.runId}: ${found.message}`);
  return { kind: 'completed', result: found.output };
}

async function check(caller: WorkflowCaller | undefined, step: GraphStep, scope: CheckScope): Promise<StepProblem[]> {
  const parsed = fields.safeParse(ownFields(step));
  // The schema's own problems are reported with the other fields.
  if (!parsed.success || hasTemplate(parsed.data.workflow_id)) return [];
  const { version } = parsed.data;
  const workflowId = parsed.data.workflow_id.toLowerCase();
  if (!isId(workflowId))
    return [{ path: 'workflow_id', code: 'workflow_unknown', message: 'is not the id of a workflow' }];
  return (await caller?.check(scope, { workflowId, version })) ?? [];
}
