'use client';
import { useQuery } from '@tanstack/react-query';
import { isObject, type JsonObject } from '@/server/platform/json.ts';
import { useTRPC } from '../../trpc/provider.tsx';
import { Field } from '../../ui/field.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import { ArgumentsField } from './arguments-field.tsx';
import type { SchemaFieldProps } from './code-field.tsx';
import { withCurrent } from './pickers.tsx';
import { TypedField } from './typed-field.tsx';
import { useNamedWorkflow } from './workflow-picker.tsx';

/** The maximum number of versions to choose from, newest first. */
const OFFERED_VERSIONS = 100;
/** The number of newest versions whose release notes are shown. */
const VERSIONS_WITH_NOTES = 20;

/** Chooses the version of the called workflow. If a template names the workflow, the user types a version number. */
export function VersionField(props: SchemaFieldProps) {
  const { field, step, value, onChange, problem, readOnly } = props;
  const trpc = useTRPC();
  const { workflow } = useNamedWorkflow(step.workflow_id);
  const latest = workflow?.latest_version ?? null;
  const newest = useQuery(
    trpc.workflows_list_versions.queryOptions(
      { id: workflow?.id ?? '', limit: VERSIONS_WITH_NOTES },
      { enabled: latest !== null },
    ),
  );
  if (latest === null) return <TypedField {...props} field={{ ...field, kind: 'number' }} />;
  const notes = new Map(newest.data?.versions.map(({ version, changelog }) => [version, changelog]));
  const present = value === undefined ? '' : String(value);
  return (
    <Field label={field.label} error={problem}>
      <Select
        value={present}
        disabled={readOnly}
        options={withCurrent(versionOptions(latest, notes), present)}
        onChange={next => onChange(next === '' ? undefined : Number(next))}
      />
    </Field>
  );
}

/** Returns the options: the latest version by name, and the versions by number, newest first. */
function versionOptions(latest: number, notes: ReadonlyMap<number, string>): SelectOption<string>[] {
  const numbers = Array.from({ length: Math.min(latest, OFFERED_VERSIONS) }, (_, older) => latest - older);
  return [
    { value: '', label: 'Latest version when the step starts', hint: `Now v${latest}` },
    ...numbers.map(number => {
      const note = notes.get(number);
      return { value: String(number), label: `v${number}`, ...(note ? { hint: note } : {}) };
    }),
  ];
}

/** The input of the called run: a form made from the `input_schema` of its version, otherwise JSON. */
export function CallInputField(props: SchemaFieldProps) {
  const { step } = props;
  const schema = useCalledGraph(step)?.input_schema;
  return (
    <ArgumentsField
      {...props}
      title="Input"
      described="Input of the called workflow"
      owner="workflow"
      description={null}
      schema={isObject(schema) ? (schema as JsonObject) : null}
    />
  );
}

/** Returns the graph that a step calls, if it is known before a run. */
function useCalledGraph({ workflow_id, version }: SchemaFieldProps['step']) {
  const trpc = useTRPC();
  const { workflow } = useNamedWorkflow(workflow_id);
  const number = typeof version === 'number' ? version : (workflow?.latest_version ?? null);
  const { data } = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: workflow?.id ?? '', version: number ?? 0 },
      // A version never changes.
      { enabled: workflow !== undefined && number !== null, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  return data?.graph_snapshot;
}
