import type { Inputs } from '../../trpc/provider.tsx';
import type { InputObject } from '../run-input.ts';

export type Graph = NonNullable<Inputs['workflows_create']['graph']>;

/** A need of the template's workflow; labels complete the sentence “Needs …”. */
export type TemplateNeed =
  | { kind: 'mcp_instance'; tool: string; label: string }
  | { kind: 'model'; label: string }
  /** The bundled demo API if it is on; otherwise the user’s own API with the same resources. */
  | { kind: 'demo_api'; label: string }
  /** Something outside of Baton that the user sets up: a scheduler, a webhook, an address in the input. */
  | { kind: 'outside'; label: string };

/** A workflow that the template's workflow calls or names as its failure handler. It is created and published first. */
export type PartnerTemplate = { name: string; sentence: string; graph: Graph };

/** A workflow for a real job. It runs without changes once its needs are met. */
export type Template = {
  /** Unique; also the file's name. */
  slug: string;
  name: string;
  /** Describes in one sentence what the workflow does. */
  sentence: string;
  needs: readonly TemplateNeed[];
  graph: Graph;
  /** The initial input of the run dialog. */
  sampleInput: InputObject;
  /** The workflow that the template's workflow calls. */
  child?: PartnerTemplate;
  /** The workflow that handles failures of the template's workflow. */
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

/** The address in an input if there is no demo API. */
const DEFAULT_API_URL = 'https://api.example.com';

/** The model that a template names if the workspace has none. */
const DEFAULT_MODEL = 'openai/gpt-5-mini';

/** The values of a graph's placeholders; null if not yet chosen. */
export type GraphChoice = { instanceId: string | null; model: string | null; partners?: PartnerIds };
/** The ids of a template's partners, once they are created. */
export type PartnerIds = { child?: string; handler?: string };

/** Returns the graph with the chosen values. A missing instance or partner is left to be completed in the editor. */
export function graphOf({ graph }: Template, { instanceId, model, partners = {} }: GraphChoice): Graph {
  const { child = '', handler = '' } = partners;
  return fillIn(graph, {
    [INSTANCE]: instanceId ?? '',
    [MODEL]: model ?? DEFAULT_MODEL,
    [CHILD]: child,
    [HANDLER]: handler,
  });
}

/** Returns the sample input with the address of the demo API, or with DEFAULT_API_URL if that is null. */
export function sampleInputOf({ sampleInput }: Template, demoApi: string | null): InputObject {
  return fillIn(sampleInput, { [DEMO_API]: demoApi ?? DEFAULT_API_URL });
}

function fillIn<T>(value: T, placeholders: Readonly<Record<string, string>>): T {
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
