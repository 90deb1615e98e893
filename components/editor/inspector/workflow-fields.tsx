'use client';
import { useEffect, useState } from 'react';
import type { Edit, Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import { useUrlState } from '../../ui/use-url-state.ts';
import type { StepField } from '../step-fields.ts';
import { change } from '../use-editor.ts';
import { JsonField } from './code-field.tsx';
import type { InspectorProps } from './inspector.tsx';
import { WorkflowField } from './workflow-picker.tsx';
import { WorkflowToolFields } from './workflow-tool-fields.tsx';

type FieldName = 'input_schema' | 'output' | 'searchable';

const JSON_FIELDS: readonly (StepField & { name: FieldName })[] = [
  {
    name: 'input_schema',
    label: 'Input schema',
    kind: 'json',
    required: false,
    hint: 'JSON Schema of the input. The run dialog shows its fields, and runs with invalid input are refused.',
    choices: [],
    integer: false,
  },
  {
    name: 'output',
    label: 'Output',
    kind: 'json',
    required: false,
    hint: 'The output of a run, as JSON with templates such as "{{steps.total.result}}". Default: the results of the last steps.',
    choices: [],
    integer: false,
  },
  {
    name: 'searchable',
    label: 'Searchable values',
    kind: 'json',
    required: false,
    hint: 'Values to search runs by. Give each a name and a template, such as {"order": "{{input.order_id}}"}. At most 10, and no secrets.',
    choices: [],
    integer: false,
  },
];
const FAILURE_HANDLER: StepField = {
  name: 'on_failure',
  label: 'When a run fails, start',
  kind: 'workflow',
  required: false,
  hint: 'Another workflow of the project. Its input is {"failed_run": …}, with the error of the run.',
  choices: [],
  integer: false,
};
/** The fields belong to no step. */
const NO_STEP: Step = { id: '', type: '' };

/** The input, the output and the failure handler of the workflow as fields, in a part that is closed at first: their editors are large. */
export function WorkflowFields(props: InspectorProps) {
  const url = useUrlState();
  const asked = url.get('settings') !== '';
  const [open, setOpen] = useState(asked);
  useEffect(() => {
    if (asked) setOpen(true);
  }, [asked]);
  return (
    <details
      className="border-t p-4"
      open={open}
      onToggle={event => {
        setOpen(event.currentTarget.open);
        if (!event.currentTarget.open) url.set({ settings: undefined });
      }}
    >
      <summary className="text-sm font-medium">Input, output and failure handling</summary>
      {open ? (
        <div className="mt-3 flex flex-col gap-4">
          {JSON_FIELDS.map(field => (
            <GraphField key={field.name} {...props} field={field} />
          ))}
          <FailureHandlerField {...props} />
          <WorkflowToolFields {...props} />
        </div>
      ) : null}
    </details>
  );
}

/** Returns the message of the first problem with a field of the graph itself. */
function problemOf(problems: InspectorProps['problems'], name: string): string | undefined {
  return problems.find(({ step_id, path }) => step_id === null && /^\w*/.exec(path)?.[0] === name)?.message;
}

function GraphField({
  workflowId,
  store,
  problems,
  editable,
  unfinished,
  field,
}: InspectorProps & { field: (typeof JSON_FIELDS)[number] }) {
  const { name } = field;
  const set = (value: Json | undefined) => {
    const edit: Edit =
      value === undefined ? { type: 'update_graph', unset: [name] } : { type: 'update_graph', set: { [name]: value } };
    change(store, [edit], `graph.${name}`);
  };
  return (
    <JsonField
      workflowId={workflowId}
      field={field}
      step={NO_STEP}
      id={`graph.${name}`}
      value={store.state.draft.graph[name]}
      onChange={set}
      problem={problemOf(problems, name)}
      readOnly={!editable}
      unfinished={unfinished}
    />
  );
}

function FailureHandlerField({ workflowId, store, problems, editable, unfinished }: InspectorProps) {
  const set = (value: Json | undefined) => {
    const edit: Edit =
      typeof value === 'string' && value.trim() !== ''
        ? { type: 'update_graph', set: { on_failure: { workflow_id: value.trim() } } }
        : { type: 'update_graph', unset: ['on_failure'] };
    change(store, [edit], 'graph.on_failure');
  };
  return (
    <WorkflowField
      templates={false}
      workflowId={workflowId}
      field={FAILURE_HANDLER}
      step={NO_STEP}
      id="graph.on_failure"
      value={store.state.draft.graph.on_failure?.workflow_id}
      onChange={set}
      problem={problemOf(problems, FAILURE_HANDLER.name)}
      readOnly={!editable}
      unfinished={unfinished}
    />
  );
}
