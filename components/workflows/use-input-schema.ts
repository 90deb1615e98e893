import { useQuery } from '@tanstack/react-query';
import type { JsonObject } from '@/server/platform/json.ts';
import { formFields, initialValues } from '../forms/form-schema.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { parseInput } from './run-input.ts';

type Workflow = Pick<Outputs['workflows_get'], 'id' | 'latest_version' | 'graph'>;

/**
 * Returns the schema that the input of a start has to fit, of the draft for a test run and otherwise of the latest version; null where
 * there is none that gives a form, or while it is loaded.
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

/** Returns the text of an input with the schema's defaults for fields that it lacks; unfinished JSON stays as it is. */
export function withDefaults(text: string, schema: JsonObject): string {
  const parsed = parseInput(text);
  if ('problem' in parsed) return text;
  return JSON.stringify({ ...initialValues(schema), ...parsed.input }, null, 2);
}
