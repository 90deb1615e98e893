import { useQuery } from '@tanstack/react-query';
import type { JsonObject } from '@/server/platform/json.ts';
import { formFields, initialValues } from '../forms/form-schema.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { parseInput } from './run-input.ts';

type Workflow = Pick<Outputs['workflows_get'], 'id' | 'latest_version' | 'graph'>;

/**
 * Returns the schema of a start's input: of the draft for a test run, otherwise of the latest version. Returns null while it is loading, or
 * if it cannot be shown as a form.
 */
export function useInputSchema({ id, latest_version, graph }: Workflow, ofDraft: boolean): JsonObject | null {
  const trpc = useTRPC();
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id, version: latest_version ?? 0 },
      { enabled: !ofDraft && latest_version !== null },
    ),
  );
  const schema = (ofDraft ? graph : version.data?.graph_snapshot)?.input_schema as JsonObject | undefined;
  return schema !== undefined && formFields(schema).length > 0 ? schema : null;
}

/** Adds the schema's defaults for missing fields to the text of an input. Unfinished JSON is returned unchanged. */
export function withDefaults(text: string, schema: JsonObject): string {
  const parsed = parseInput(text);
  if ('problem' in parsed) return text;
  return JSON.stringify({ ...initialValues(schema), ...parsed.input }, null, 2);
}
