import { z } from 'zod';
import { isObject } from '../../../platform/json.ts';
import { JsonValueSchema } from '../../../platform/zod-json.ts';
import type { GraphStep, JsonMap, JsonValue } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import { collectReferences, hasTemplate } from '../../languages/templates.ts';
import type { Attempt, Outcome, StepProblem, StepType, TrialFacts } from '../../ports/step-type.ts';
import { fieldReader, InvalidStep, MAX_INSTRUCTIONS_LENGTH } from '../common-fields.ts';
import { exampleValue } from '../example-value.ts';
import { outcomeOf } from '../failure.ts';
import { checkForm } from '../form.ts';
import { stepsInTemplates } from '../reads.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';

const ROLES = new Set(['project_contributor', 'tenant_admin']);
/** The placeholder for the person for whom the run acts. */
const STARTER = 'run_starter';

const fields = z.strictObject({
  instructions: z
    .string()
    .max(MAX_INSTRUCTIONS_LENGTH)
    .optional()
    .meta({ description: 'Markdown; may contain templates' }),
  form: z
    .record(z.string(), JsonValueSchema)
    .optional()
    .meta({ description: 'JSON Schema (2020-12) of an object: checked against result on completion' }),
  assignees: z.array(z.string().min(1).max(320)).max(100).optional().meta({
    description:
      'Email addresses, the roles project_contributor and tenant_admin, or run_starter: the person for whom the run acts. Empty = any contributor',
  }),
  on_timeout: z.enum(['fail', 'approve', 'reject']).optional().meta({ description: 'Default fail' }),
});
const read = fieldReader(fields);

// Deliberately loose: the address is only compared with the addresses of members, and no email is sent to it.
const isEmail = (text: string) => text.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(text);
const isAssignee = (text: string) => ROLES.has(text) || text === STARTER || isEmail(text);

const exampleDecision = ({ form }: GraphStep, { now }: TrialFacts): JsonValue => {
  const values = exampleValue(form);
  const decision = { approved: true, completed_by: 'stand-in', completed_at: now };
  return isObject(values) ? { ...values, ...decision } : decision;
};

/**
 * Returns the rendered assignees without duplicates. A template may give one text or a list of them. The person for
 * whom a run acts is determined when the task is asked, and stays its assignee.
 */
function assigneesOf(texts: string[], rendering: Rendering, startedBy: string): string[] {
  const rendered = (rendering.value('assignees', texts) as JsonValue[]).flat();
  const assignees = rendered.map(value => {
    if (typeof value !== 'string' || !isAssignee(value)) {
      throw new InvalidStep(`assignees: ${JSON.stringify(value).slice(0, 100)} is neither an email address nor a role`);
    }
    if (value !== STARTER) return isEmail(value) ? value.toLowerCase() : value;
    if (!isEmail(startedBy)) throw new InvalidStep('assignees: this run was not started for a person');
    return startedBy.toLowerCase();
  });
  return [...new Set(assignees)];
}

function formOf(form: JsonMap | undefined, rendering: Rendering): JsonMap | null {
  if (!form) return null;
  const rendered = rendering.value('form', form) as JsonMap;
  const [problem] = checkForm(rendered);
  if (problem) throw new InvalidStep(`${problem.path}: ${problem.message}`);
  return rendered;
}

function requestTask(attempt: Attempt): Outcome {
  const { step } = attempt;
  const { instructions, form, assignees, on_timeout } = read(step);
  const rendering = new Rendering(attempt);
  const text = rendering.text('instructions', instructions ?? '');
  if (text.length > MAX_INSTRUCTIONS_LENGTH) throw new InvalidStep('instructions: too long once rendered');
  return {
    kind: 'waiting',
    task: {
      name: step.name ? rendering.text('name', step.name).slice(0, 500) : step.id,
      instructions: text,
      form: formOf(form, rendering),
      assignees: assigneesOf(assignees ?? [], rendering, attempt.run.startedBy ?? ''),
      due_at: step.timeout_s === undefined ? null : attempt.now + step.timeout_s * 1000,
      on_timeout: on_timeout ?? 'fail',
    },
  };
}

function check(step: GraphStep): StepProblem[] {
  const parsed = fields.safeParse({ form: step.form, assignees: step.assignees });
  if (!parsed.success) return [];
  const { form, assignees } = parsed.data;
  const problems: StepProblem[] = [];
  // A form with templates (for example choices from another step) can only be checked once rendered, when the task is
  // asked.
  if (form && collectReferences(form).length === 0) problems.push(...checkForm(form));
  for (const [index, assignee] of (assignees ?? []).entries()) {
    if (hasTemplate(assignee) || isAssignee(assignee)) continue;
    problems.push({
      path: `assignees[${index}]`,
      code: 'assignee_invalid',
      message: `"${assignee.slice(0, 80)}" is neither an email address nor a role (${[...ROLES, STARTER].join(', ')})`,
    });
  }
  return problems;
}

/**
 * `human_task`: asks a person and waits (docs/specification/steps.md#human_task). The timeout belongs to the task, not
 * to the attempt.
 */
export const humanTask: StepType = {
  type: 'human_task',
  ...description,
  ...facts,
  fields,
  available: true,
  dataFields: ['instructions'],
  decides: true,
  approvalFields: ['assignees', 'form', 'on_timeout', 'timeout_s', 'disabled', 'gated'],
  rawFields: [],
  trial: { replacedBecause: () => 'asks_people', example: exampleDecision },
  reads: stepsInTemplates,
  check,
  checkInGraph(step, graph) {
    if (step.on_timeout === undefined || step.timeout_s !== undefined) return;
    graph.warn({
      path: 'on_timeout',
      code: 'timeout_never',
      message: 'on_timeout has no effect without timeout_s',
    });
  },
  async execute(attempt) {
    try {
      return requestTask(attempt);
    } catch (error) {
      return outcomeOf(error);
    }
  },
};
