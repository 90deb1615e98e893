import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { fieldsOf, labelOf, type StepField, type StepTypeForm } from '../step-fields.ts';

/** The fields that are always shown, in the order in which users fill them in. Other fields are under “More”. */
const ESSENTIAL = [
  'lua_script.script',
  'for_each.items',
  'for_each.steps',
  'for_each.concurrency',
  'for_each.on_item_error',
  'call_workflow.workflow_id',
  'call_workflow.input',
  'call_workflow.detach',
  'mcp_call.instance_id',
  'mcp_call.tool_name',
  'mcp_call.tool_args',
  'llm_call.model',
  'llm_call.prompt',
  'llm_call.system',
  'llm_call.response_schema',
  'agent.agent_id',
  'agent.prompt',
  'agent.model',
  'agent.instructions',
  'agent.tools',
  'agent.response_schema',
] as const;
/** The fields of a step that uses a saved agent. The other settings come from that agent. */
const FIELDS_WITH_AGENT: ReadonlySet<string> = new Set(['agent_id', 'prompt', 'limits']);

const setting = (name: string, kind: StepField['kind'], hint: string, integer = false): StepField => ({
  name,
  label: labelOf(name),
  kind,
  required: false,
  hint,
  choices: [],
  integer,
});

/** `fields` are always shown; `more` are collapsed. */
export type StepFormFields = { fields: StepField[]; more: StepField[] };

/**
 * Returns the fields of a step's form: the fields of its type, undeclared fields, and the settings that every step has. `hasOwnForm`: a
 * form for this type renders all fields of the type.
 */
export function formOf(
  step: Step,
  form: StepTypeForm | undefined,
  { inLoop, hasOwnForm }: { inLoop: boolean; hasOwnForm: boolean },
): StepFormFields {
  const settings = settingsOf(form, inLoop);
  if (form === undefined) {
    const known = new Set([
      'id',
      'type',
      'name',
      'depends_on',
      'then',
      'else',
      'position',
      ...settings.map(s => s.name),
    ]);
    const others = Object.keys(step).filter(name => !known.has(name));
    return { fields: others.map(name => setting(name, 'json', 'JSON')), more: settings };
  }
  const isNamed = form.type === 'agent' && typeof step.agent_id === 'string';
  const fields = fieldsOf(form).filter(
    ({ name }) => !isNamed || FIELDS_WITH_AGENT.has(name) || Object.hasOwn(step, name),
  );
  const essential = ESSENTIAL.flatMap(each => {
    const [type, name = ''] = each.split('.');
    return type === form.type ? [name] : [];
  });
  if (hasOwnForm || essential.length === 0) return { fields, more: settings };
  const shown = essential.flatMap(name => fields.filter(field => field.name === name));
  return { fields: shown, more: [...fields.filter(field => !essential.includes(field.name)), ...settings] };
}

function settingsOf(form: StepTypeForm | undefined, inLoop: boolean): StepField[] {
  const timeout = form?.defaultTimeoutS ?? null;
  return [
    {
      ...setting('on_error', 'choice', 'Also after the retries, if there are any.'),
      choices: ['fail', 'continue'],
    },
    ...(form === undefined || form.retries
      ? [
          setting('retry_count', 'number', 'How often a failed step is tried again. Default: 0.', true),
          setting('retry_delay_s', 'number', 'Seconds before the first retry, doubled at each. Default: 1.'),
        ]
      : []),
    setting(
      'timeout_s',
      'number',
      timeout === null ? 'Seconds. Default: none.' : `Seconds. Default: ${timeout}.`,
      true,
    ),
    setting('disabled', 'flag', 'The step is skipped, and the steps after it run.'),
    // A start cannot name a step inside a loop.
    ...(inLoop
      ? []
      : [
          setting('gated', 'flag', 'The step is skipped unless a start names it.'),
          setting('overridable', 'list', 'The fields that a start may change for its run'),
        ]),
  ];
}
