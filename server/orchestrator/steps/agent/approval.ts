import type { JsonMap } from '../../core/index.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import { ADDED_STEP_TYPES } from '../descriptions.ts';
import { failed } from '../failure.ts';
import { fenced, inline } from '../quoted.ts';
import { approvalForm } from './approval-form.ts';
import { PERSON, questionOf } from './ask-user.ts';
import { outsideIn } from './outside-conversation.ts';
import { type PlannedTool, workOf } from './plan.ts';
import { firstUnknownTo, privateIn } from './private-conversation.ts';
import { AGENT_STEP } from './step.ts';
import { askedCall } from './tool.ts';
import { toolOf } from './turn.ts';

const MAX_SHOWN = 16_000;
const MAX_WHY = 2_000;

/** `agent_approval`: asks a person to approve a call of an agent. Only agents add this step. */
export const agentApproval: StepType = {
  type: 'agent_approval',
  ...ADDED_STEP_TYPES.agent_approval,
  ...AGENT_STEP,
  defaultTimeoutS: null,
  retries: false,
  // Any earlier result may have brought text from outside into the conversation.
  reads: () => 'all',
  execute: async attempt => requestApproval(attempt),
};

function requestApproval(attempt: Attempt): Outcome {
  const { agent, step } = attempt;
  const asked = agent == null ? null : askedCall(attempt, agent, step.id);
  if (agent == null || asked === null)
    return failed('result_missing', 'The turn that asked for the call is missing in the log.');
  const work = workOf(agent.settings);
  const tool = toolOf(work, asked.call.name);
  if (tool === undefined) return failed('unknown_tool', 'There is no such tool.');
  const args = asked.call.arguments as JsonMap;
  if (tool.instance_id === PERSON) return question(agent.step, args);
  const mayBeTold = tool.policy === 'ask_when_tainted' || tool.policy === 'ask_when_private';
  const outside = mayBeTold ? outsideIn(work, agent, attempt) : null;
  const hidden = tool.policy === 'ask_when_private' ? firstUnknownTo(privateIn(work, agent, attempt), tool) : null;
  return {
    kind: 'waiting',
    task: {
      name: `${agent.step} wants to call ${tool.tool}`.slice(0, 500),
      instructions: instructions({ tool, args, why: asked.text, outside, hidden }),
      // The text of the agent is left out for people who may decide but not read the run.
      to_decide: instructions({ tool, args, why: '', outside, hidden }),
      form: approvalForm(tool.input_schema as JsonMap, args),
      assignees: [],
      due_at: null,
      on_timeout: 'reject',
    },
  };
}

/** Asks a question of an agent. The turn has validated the form. */
function question(step: string, args: JsonMap): Outcome {
  const asked = questionOf(args);
  if ('problem' in asked) return failed('tool_args_invalid', asked.problem);
  return {
    kind: 'waiting',
    task: {
      name: `${step} asks something`,
      instructions: `${inline(step)} asks:\n\n${fenced(asked.question)}\n\nPasswords, keys and tokens do not belong here: add them under Connections.`,
      form: asked.form,
      assignees: [],
      due_at: null,
      on_timeout: 'reject',
    },
  };
}

type Question = { tool: PlannedTool; args: JsonMap; why: string; outside: string | null; hidden: string | null };

/** Returns the instructions of the task. Text of a model is shown as code, so that it does not look like text of the product. */
function instructions({ tool, args, why, outside, hidden }: Question): string {
  const said = why.trim() === '' ? [] : ['What the agent said before the call:', fenced(why.trim().slice(0, MAX_WHY))];
  const asked =
    outside === null
      ? []
      : [`The agent has read text from outside, ${outside}, which may have told it to make this call.`];
  const sent = hidden === null ? [] : [`It has read private data, ${hidden}, which this call could send out.`];
  return [
    `The agent wants to call the tool ${inline(tool.tool)} of ${inline(tool.instance)} with these arguments:`,
    fenced(JSON.stringify(args, null, 2).slice(0, MAX_SHOWN)),
    ...said,
    ...asked,
    ...sent,
    'You may change the arguments, and say why you reject the call: the agent reads the reason.',
  ].join('\n\n');
}
