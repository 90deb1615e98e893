import type { Inputs } from '../../trpc/provider.tsx';
import type { InputObject } from '../run-input.ts';

export type Graph = NonNullable<Inputs['workflows_create']['graph']>;

/** Something that a workflow of the template needs before it runs; labels complete the sentence “Needs …”. */
export type TemplateNeed =
  | { kind: 'mcp_instance'; tool: string; label: string }
  | { kind: 'model'; label: string }
  /** The bundled demo API, where it is on; otherwise an API of the person’s own with the same resources. */
  | { kind: 'demo_api'; label: string }
  /** Something outside of Baton that the person sets up: a scheduler, a webhook, an address in the input. */
  | { kind: 'outside'; label: string };

/** A workflow that the one of a template calls or names as its failure handler: it is created and published before that one. */
export type PartnerTemplate = { name: string; sentence: string; graph: Graph };

/** A workflow for a real job, which runs as it is once its needs are met. */
export type Template = {
  /** Unique, and the name of the file. */
  slug: string;
  name: string;
  /** Describes in one sentence what the workflow does. */
  sentence: string;
  needs: readonly TemplateNeed[];
  graph: Graph;
  /** The input with which the run dialog is filled in. */
  sampleInput: InputObject;
  /** The workflow that it calls. */
  child?: PartnerTemplate;
  /** The workflow that handles its failures. */
  handler?: PartnerTemplate;
};

/** Stands for the MCP instance that the person chooses. */
export const INSTANCE = '$instance';
/** Stands for the model that the person chooses. */
export const MODEL = '$model';

/** Stands for the workflow of `child`. */
export const CHILD = '$child';
/** Stands for the workflow of `handler`. */
export const HANDLER = '$handler';
/** Stands for the address of the demo API, in the input. */
export const DEMO_API = '$demo_api';

/** The address that an input names where there is no demo API. */
const USUAL_API = 'https://api.example.com';

/** A model that a template names where the workspace has none. */
const USUAL_MODEL = 'openai/gpt-5-mini';

/** The values of a graph's placeholders; null where there is none yet. */
export type GraphChoice = { instanceId: string | null; model: string | null; partners?: PartnerIds };
/** The ids of the partners that a template has, once they are created. */
export type PartnerIds = { child?: string; handler?: string };

/** Returns the graph with what was chosen; without an instance or a partner, the place is left to be completed in the editor. */
export function graphOf({ graph }: Template, { instanceId, model, partners = {} }: GraphChoice): Graph {
  const { child = '', handler = '' } = partners;
  return filledIn(graph, {
    [INSTANCE]: instanceId ?? '',
    [MODEL]: model ?? USUAL_MODEL,
    [CHILD]: child,
    [HANDLER]: handler,
  });
}

/** Returns the sample input with the address of the demo API; null: there is none. */
export function sampleInputOf({ sampleInput }: Template, demoApi: string | null): InputObject {
  return filledIn(sampleInput, { [DEMO_API]: demoApi ?? USUAL_API });
}

function filledIn<T>(value: T, placeholders: Readonly<Record<string, string>>): T {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' && Object.hasOwn(placeholders, each) ? placeholders[each] : each,
  ) as T;
}

/** Returns the templates whose name, sentence or needs contain every word of the text. */
export function searchTemplates(templates: readonly Template[], text: string): Template[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return templates.filter(({ name, sentence, needs }) => {
    const searched = [name, sentence, ...needs.map(({ label }) => label)].join(' ').toLowerCase();
    return words.every(word => searched.includes(word));
  });
}
