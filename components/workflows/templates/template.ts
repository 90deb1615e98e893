import type { Inputs } from '../../trpc/provider.tsx';
import type { InputObject } from '../run-input.ts';

export type Graph = NonNullable<Inputs['workflows_create']['graph']>;

/** What a workflow of the template needs before it runs; labels complete the sentence “Needs …”. */
export type TemplateNeed =
  | { kind: 'mcp_instance'; tool: string; label: string }
  | { kind: 'model'; label: string }
  /** Something outside of Baton that the person sets up: a scheduler, a webhook, an address in the input. */
  | { kind: 'outside'; label: string };

/** A workflow for a real job, which runs as it is once its needs are met. */
export type Template = {
  /** Unique, and the name of the file. */
  slug: string;
  name: string;
  /** What it does, in one sentence. */
  sentence: string;
  needs: readonly TemplateNeed[];
  graph: Graph;
  /** The input with which the run dialog is filled in. */
  sampleInput: InputObject;
};

/** Stands for the MCP instance that the person chooses. */
export const INSTANCE = '$instance';
/** Stands for the model that the person chooses. */
export const MODEL = '$model';

/** A model that a template names where the workspace has none. */
const USUAL_MODEL = 'openai/gpt-5-mini';

/** Returns the graph with the chosen instance and model; without an instance, the step is left to be completed in the editor. */
export function graphOf({ graph }: Template, chosen: { instanceId: string | null; model: string | null }): Graph {
  const values: Record<string, string> = {
    [INSTANCE]: chosen.instanceId ?? '',
    [MODEL]: chosen.model ?? USUAL_MODEL,
  };
  return JSON.parse(JSON.stringify(graph), (_, value: unknown) =>
    typeof value === 'string' && Object.hasOwn(values, value) ? values[value] : value,
  ) as Graph;
}

/** Returns the templates whose name, sentence or needs contain every word of the text. */
export function searchTemplates(templates: readonly Template[], text: string): Template[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return templates.filter(({ name, sentence, needs }) => {
    const searched = [name, sentence, ...needs.map(({ label }) => label)].join(' ').toLowerCase();
    return words.every(word => searched.includes(word));
  });
}
