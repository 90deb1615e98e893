'use client';
import type { Edit, Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import { change } from '../change.ts';
import { changeRenamed } from '../schema-builder/change-renamed.ts';
import { FormField } from '../schema-builder/form-field.tsx';
import type { StepField } from '../step-fields.ts';
import { ValueMapField } from '../values/value-map-field.tsx';
import type { SchemaFieldProps } from './code-field.tsx';
import type { InspectorProps } from './inspector.tsx';
import { WorkflowField } from './workflow-picker.tsx';
import { WorkflowToolFields } from './workflow-tool-fields.tsx';

type FieldName = 'input_schema' | 'output' | 'searchable';

const graphFieldOf = (name: FieldName, label: string, hint: string): StepField & { name: FieldName } => ({
  name,
  label,
  kind: 'json',
  required: false,
  hint,
  choices: [],
  integer: false,
});
const INPUT = graphFieldOf(
  'input_schema',
  'Input',
  'What a run is started with. The run dialog shows these fields, and runs with invalid input are refused.',
);
const OUTPUT = graphFieldOf('output', 'Output', 'What a run gives back. Default: the results of the last steps.');
const SEARCHABLE = graphFieldOf(
  'searchable',
  'Searchable values',
  'Values to search runs by. At most 10, and no secrets.',
);
const FAILURE_HANDLER: StepField = {
  name: 'on_failure',
  label: 'When a run fails, start',
  kind: 'workflow',
  required: false,
  hint: 'Another workflow of the project. Its input is {"failed_run": …}, with the error of the run.',
  choices: [],
  integer: false,
};
/** Graph fields belong to no step. */
const NO_STEP: Step = { id: '', type: '' };

/** The input, the output, the failure handler and the tool of the workflow as fields. */
export function GraphFields(props: InspectorProps) {
  return (
    <div className="mt-3 flex flex-col gap-5">
      <FormField
        {...graphField(props, INPUT)}
        list="Fields of the input"
        empty="No fields: any JSON object can be the input."
        onRename={(value, renamed) =>
          changeRenamed(props.store, {
            owner: 'input',
            renamed,
            edit:
              value === undefined
                ? { type: 'update_graph', unset: ['input_schema'] }
                : { type: 'update_graph', set: { input_schema: value } },
            key: 'graph.input_schema',
          })
        }
      />
      <ValueMapField {...graphField(props, OUTPUT)} empty="The results of the last steps are the output." />
      <ValueMapField {...graphField(props, SEARCHABLE)} empty="No values yet." />
      <FailureHandlerField {...props} />
      <WorkflowToolFields {...props} />
    </div>
  );
}

/** Returns the message of the first problem with a field of the graph itself. */
function problemOf(problems: InspectorProps['problems'], name: string): string | undefined {
  return problems.find(({ step_id, path }) => step_id === null && /^\w*/.exec(path)?.[0] === name)?.message;
}

/** Returns the properties of a control for a field of the graph itself. */
function graphField(
  { workflowId, store, problems, editable, unfinished }: InspectorProps,
  field: StepField & { name: FieldName },
): SchemaFieldProps {
  const { name } = field;
  const set = (value: Json | undefined) => {
    const edit: Edit =
      value === undefined ? { type: 'update_graph', unset: [name] } : { type: 'update_graph', set: { [name]: value } };
    change(store, [edit], `graph.${name}`);
  };
  return {
    workflowId,
    field,
    step: NO_STEP,
    id: `graph.${name}`,
    value: store.state.draft.graph[name],
    onChange: set,
    problem: problemOf(problems, name),
    readOnly: !editable,
    unfinished,
  };
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
