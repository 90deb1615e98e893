import { z } from 'zod';
import type { AnyOperation } from '../operation/operation.ts';
import { REQUEST_HEADERS } from '../operation/request-headers.ts';
import { roles, scopes } from '../orchestrator/ports/authority.ts';
import {
  inputJsonSchema,
  type JsonSchema,
  outputJsonSchema,
  type ParameterType,
  parameterType,
  strictFields,
} from './parameters.ts';
import { createRouter, type Router } from './router.ts';

/** An operation with what is derived from its declaration once: when it is loaded, or when it is first described. */
export type RegisteredOperation = {
  readonly operation: AnyOperation;
  /** The names of the path parameters, in the order of the path. */
  readonly pathParameters: readonly string[];
  /**
   * `body`: all fields except the path parameters are one JSON object; `query` (GET, DELETE):
   * they are query parameters.
   */
  readonly carrier: 'body' | 'query';
  /** The names of all fields of the input, including the path parameters. */
  readonly fields: ReadonlySet<string>;
  /** How path and query parameters are read from text; body fields are not included. */
  readonly parameters: ReadonlyMap<string, ParameterType>;
  /** Returns the types of all fields of the input, including the path parameters. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
};

export type Registry = {
  readonly operations: readonly RegisteredOperation[];
  readonly byName: ReadonlyMap<string, RegisteredOperation>;
  readonly router: Router<RegisteredOperation>;
};

/** Routes of the API that are not operations: the description and the WebSocket. */
const reservedRoutes: ReadonlySet<string> = new Set(['GET /v1/openapi.json', 'GET /v1/workflows/{}/stream']);
/** Names a tRPC router cannot have. */
const reservedNames: ReadonlySet<string> = new Set(['then', 'call', 'apply']);
const headerNames: ReadonlySet<string> = new Set(REQUEST_HEADERS);

/**
 * Collects operations and derives what the surfaces need. Throws an Error that lists every contradiction: two
 * operations on one route, a duplicate name, an unknown scope or role, a path parameter missing from the input, an
 * input that is not one strict object, a query parameter that text cannot represent.
 */
export function createRegistry(operations: readonly AnyOperation[]): Registry {
  const problems: string[] = [];
  const names = new Set<string>();
  const routes = new Map<string, string>();
  const registered = operations.map(operation => {
    const problem = (message: string) => problems.push(`${operation.name}: ${message}`);
    if (names.has(operation.name)) problem('the name is declared twice');
    names.add(operation.name);
    const route = `${operation.method} ${operation.path.replace(/\{[^}]*\}/g, '{}')}`;
    const other = routes.get(route);
    if (other !== undefined) problem(`${route} already belongs to ${other}`);
    if (reservedRoutes.has(route)) problem(`${route} is served by the API itself`);
    routes.set(route, operation.name);
    checkDeclaration(operation, problem);
    return register(operation, problem);
  });
  if (problems.length > 0) throw new Error(`The operations contradict each other:\n${problems.join('\n')}`);
  return {
    operations: registered,
    byName: new Map(registered.map(entry => [entry.operation.name, entry])),
    router: createRouter(
      registered.map(entry => ({ method: entry.operation.method, path: entry.operation.path, value: entry })),
    ),
  };
}

function checkDeclaration(operation: AnyOperation, problem: (message: string) => void): void {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(operation.name) || reservedNames.has(operation.name)) {
    problem('the name is not snake_case, or reserved');
  }
  for (const segment of operation.path.slice(1).split('/')) {
    if (!/^([a-z0-9][a-z0-9._-]*|\{[A-Za-z_][A-Za-z0-9_]*\})$/.test(segment))
      problem(`malformed path segment "${segment}"`);
  }
  if (operation.access !== 'public') {
    const access: string = operation.access;
    if (access !== 'member' && !roles.some(role => role === access)) problem(`unknown role "${access}"`);
    const scope: string | null = operation.scope;
    if (scope !== null && !scopes.some(known => known === scope)) problem(`unknown scope "${scope}"`);
  }
  if (operation.raw && (operation.access !== 'public' || operation.method !== 'POST' || operation.mcp)) {
    problem('a raw body is only for a public POST that is no MCP tool');
  }
  if (operation.produces === 'text/event-stream' && (operation.access === 'public' || operation.mcp)) {
    problem('a stream is for callers with a credential, and no MCP tool');
  }
  if (
    operation.produces === 'text/csv' &&
    (operation.method !== 'GET' || operation.mcp || !operation.output.safeParse('').success)
  ) {
    problem('a download is only for a GET that is no MCP tool and whose output is a string');
  }
  for (const header of operation.headers ?? []) {
    if (!headerNames.has(header)) problem(`unknown header "${header}"`);
  }
  if (operation.status === 204 && !operation.output.safeParse(undefined).success) {
    problem('status 204 sends no body, but the output schema demands one');
  }
}

function register(operation: AnyOperation, problem: (message: string) => void): RegisteredOperation {
  const pathParameters = [...operation.path.matchAll(/\{([^}]*)\}/g)].map(match => match[1] ?? '');
  if (new Set(pathParameters).size !== pathParameters.length) problem('a path parameter is named twice');
  const carrier = operation.method === 'GET' || operation.method === 'DELETE' ? 'query' : 'body';
  const parameters = new Map<string, ParameterType>();
  const fields = strictFields(operation.input);
  if (!fields) problem('the input is not one strict object');
  for (const name of pathParameters) {
    if (fields && !fields.has(name)) problem(`the path parameter {${name}} is missing from the input`);
  }
  for (const [name, field] of fields ?? []) {
    const inPath = pathParameters.includes(name);
    if (!inPath && carrier === 'body' && !operation.query?.includes(name)) continue;
    const type = parameterType(field);
    if (!type || (inPath && type.list)) problem(`the parameter "${name}" cannot be written as text`);
    else parameters.set(name, type);
  }
  return {
    operation,
    pathParameters,
    carrier,
    fields: new Set(fields?.keys()),
    parameters,
    // Computed on demand: descriptions need the schemas, and a start of the service does not.
    get inputSchema() {
      return inputJsonSchema(operation.input);
    },
    get outputSchema() {
      return outputJsonSchema(operation.output);
    },
  };
}

/** An input without fields, for operations that need none. */
export const NoInput = z.strictObject({});
