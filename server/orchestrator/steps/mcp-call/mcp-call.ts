import { z } from 'zod';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import type { JsonMap } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type { Attempt, Outcome, StepTrial, StepType } from '../../ports/step-type.ts';
import { fieldReader, unavailableMessage } from '../common-fields.ts';
import { exampleValue } from '../example-value.ts';
import { failed, outcomeOf } from '../failure.ts';
import { askAboutLost, onLostField, quoted } from '../on-lost.ts';
import { stepsInTemplates } from '../reads.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';
import type { ToolAnswer, ToolCaller } from './tool-caller.ts';

const fields = z.strictObject({
  tool_name: z.string().min(1).max(200),
  tool_args: JsonObjectSchema.optional(),
  instance_id: z.string().min(1).max(200).meta({ description: 'The MCP instance and with it the credentials' }),
  on_lost: onLostField,
});
const read = fieldReader(fields);
/** Room for two results of the maximum size, and some more. */
const MAX_ARGUMENT_BYTES = 4 * 1024 * 1024;
const message = unavailableMessage('mcp_call', 'this server has no tool servers configured');

const trial: StepTrial = {
  callsTool: true,
  replacedBecause(_, { tool }) {
    if (tool === undefined) return 'unknown_tool';
    return tool.annotations?.readOnlyHint === true ? null : 'writes';
  },
  reaches: ({ instance_id: instance }) =>
    typeof instance === 'string' && !hasTemplate(instance) ? { instances: [instance] } : null,
  example: (_, { tool }) => exampleValue(tool?.outputSchema),
};

/**
 * `mcp_call` (docs/specification/steps.md#mcp_call): calls a tool of an MCP instance. Without `tools`, only drafts may
 * contain the type.
 */
export function mcpCall(tools: ToolCaller | undefined): StepType {
  return {
    type: 'mcp_call',
    ...description,
    ...facts,
    fields,
    available: tools ? true : { message },
    external: true,
    io: true,
    dataFields: ['tool_args'],
    filledFields: ['tool_args'],
    approvalFields: ['on_lost'],
    rawFields: [],
    trial,
    reads: stepsInTemplates,
    check(step, scope) {
      const parsed = fields.partial().loose().safeParse(step);
      if (!tools || !parsed.success) return [];
      const { tool_name: toolName, instance_id: instanceId, tool_args: args } = parsed.data;
      // Missing fields are reported separately. The values of templates are known only when the step runs.
      if (toolName === undefined || instanceId === undefined) return [];
      if (hasTemplate(toolName) || hasTemplate(instanceId)) return [];
      return tools.check(scope, { instanceId, toolName, args: args as JsonMap | undefined });
    },
    execute: async (attempt, signal) => {
      if (!tools) return failed('step_type_unavailable', message);
      try {
        return await call(tools, attempt, signal);
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

async function call(tools: ToolCaller, attempt: Attempt, signal: AbortSignal): Promise<Outcome> {
  const { tool_name, tool_args, instance_id, on_lost } = read(attempt.step);
  const { run, traceparent } = attempt;
  const rendering = new Rendering(attempt);
  const args = rendering.value('tool_args', (tool_args ?? {}) as JsonMap, MAX_ARGUMENT_BYTES) as JsonMap;
  const idempotencyKey = `${run.id}:${attempt.step.id}`;
  const { tenantId, projectId } = run;
  const instanceId = rendering.text('instance_id', instance_id);
  const toolName = rendering.text('tool_name', tool_name);
  if (attempt.inDoubt && on_lost === 'ask') {
    const step = attempt.step.name ?? attempt.step.id;
    return askAboutLost({ step, did: `calling the tool ${quoted(toolName)}`, given: args, example: {} });
  }
  const answer = await tools.call(
    { tenantId, projectId, instanceId, toolName, args, idempotencyKey, traceparent },
    { signal, log: lines => attempt.log(lines) },
  );
  return outcome(answer);
}

function outcome(answer: ToolAnswer): Outcome {
  const consumed = [{ action: 'tool_call' as const, quantity: 1 }];
  if (answer.kind === 'result') return { kind: 'completed', result: answer.result, consumed };
  const { code, message: text, details, retryable, retryAfterMs, unsent } = answer;
  return {
    kind: 'failed',
    error: { code, message: text, ...(details === undefined ? {} : { details }) },
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(unsent ? {} : { consumed }),
  };
}
