import type { RegisteredOperation } from './registry.ts';

/** A link of OpenAPI: an operation that may follow, and where its parameters come from. */
export type Link = { operationId: string; parameters: Record<string, string>; description: string };

/** Fields of an answer that name a resource of another path: `workflow_id` is the `{id}` after `/v1/workflows`. */
const fieldsByParameter: Readonly<Record<string, string>> = {
  '/v1/workflows/{id}': 'workflow_id',
  '/v1/workflows/{id}/runs/{runID}': 'run_id',
  '/v1/workflows/{id}/versions/{version}': 'version',
};

/**
 * Returns the links of an answer, derived from the paths: the object that a POST creates can be read, changed
 * and deleted by its id, and a started run has its summary and its events. Only for POST: readers of other
 * answers already had the ids.
 */
export function linksFrom(from: RegisteredOperation, all: readonly RegisteredOperation[]): Record<string, Link> {
  if (from.operation.method !== 'POST' || from.operation.status === 204) return {};
  const links: Record<string, Link> = {};
  for (const to of all) {
    if (to === from || to.operation.method === 'POST') continue;
    const parameters = parametersOf(from, to);
    if (parameters === null) continue;
    const { name, summary } = to.operation;
    links[name] = { operationId: name, parameters, description: summary };
  }
  return links;
}

/** Returns null if a parameter has no known value, or if the answer is not needed for it. */
function parametersOf(from: RegisteredOperation, to: RegisteredOperation): Record<string, string> | null {
  const parameters: Record<string, string> = {};
  let answers = false;
  for (const parameter of to.pathParameters) {
    const place = to.operation.path.split(`{${parameter}}`)[0] ?? '';
    const field = fieldNaming(from, place.slice(0, -1), `${place}{${parameter}}`);
    if (field !== null) {
      parameters[parameter] = `$response.body#/${field}`;
      answers = true;
    } else if (from.operation.path.startsWith(`${place}{${parameter}}`)) {
      parameters[parameter] = `$request.path.${parameter}`;
    } else {
      return null;
    }
  }
  return answers ? parameters : null;
}

/** Returns the field of the answer that holds this path parameter. */
function fieldNaming(
  { operation, outputSchema }: RegisteredOperation,
  collection: string,
  place: string,
): string | null {
  const required = Array.isArray(outputSchema.required) ? outputSchema.required : [];
  // A run's id also identifies its workflow, but a request whose path names the workflow needs no link to it.
  const named = operation.path.startsWith(`${place}/`) ? undefined : fieldsByParameter[place];
  if (named !== undefined && required.includes(named)) return named;
  return operation.path === collection && required.includes('id') ? 'id' : null;
}
