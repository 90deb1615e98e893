import type { StreamQuery } from '../domains/runs/events/selection.ts';
import { PROJECT_HEADER, TENANT_HEADER } from '../operation/request-headers.ts';
import { MAX_INTEGER } from '../operation/wire.ts';
import { type ErrorDetail, invalid } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';

/** Returns the workflow id in the path of a stream; null for any other path. */
export function streamedWorkflow(pathname: string): string | null {
  const id = /^\/v1\/workflows\/([0-9a-f-]{36})\/stream$/i.exec(pathname)?.[1]?.toLowerCase();
  return id ?? null;
}

/** Returns whether a path belongs to a stream, even if its id is malformed. */
export function isStreamPath(pathname: string): boolean {
  return /^\/v1\/workflows\/[^/]+\/stream$/.test(pathname);
}

const scopeParameters: Record<string, string> = { [TENANT_HEADER]: 'tenant_id', [PROJECT_HEADER]: 'project_id' };

/** Returns the value of X-Tenant-Id or X-Project-Id from `?tenant_id=` or `?project_id=`, which stand for the headers. */
export function scopeInQuery(search: string, header: string): string | undefined {
  const name = scopeParameters[header];
  return name === undefined ? undefined : (new URLSearchParams(search).get(name) ?? undefined);
}

/** Reads `?run_id=` and `?after=` (docs/specification/events.md#stream). Throws AppError 422 for anything else but the scope. */
export function readStreamQuery(search: string): StreamQuery {
  const query: StreamQuery = {};
  const details: ErrorDetail[] = [];
  const seen = new Set<string>();
  for (const [name, value] of new URLSearchParams(search)) {
    const detail = seen.has(name) ? 'is given more than once' : readOne(query, name, value);
    if (detail) details.push({ path: name, message: detail });
    seen.add(name);
  }
  if (query.after !== undefined && query.runId === undefined) {
    details.push({ path: 'after', message: 'needs run_id: sequence numbers count within one run' });
  }
  if (details.length > 0) throw invalid('The query is not valid.', details, 'validation_error');
  return query;
}

function readOne(query: StreamQuery, name: string, value: string): string | null {
  switch (name) {
    case 'run_id':
      query.runId = value.toLowerCase();
      return isId(query.runId) ? null : 'must be a UUID';
    case 'after':
      query.after = Number(value);
      return /^\d{1,10}$/.test(value) && query.after <= MAX_INTEGER
        ? null
        : `must be an integer from 0 to ${MAX_INTEGER}`;
    case 'tenant_id':
    case 'project_id':
      return null; // read by `scopeInQuery`, judged with the credential
    default:
      return 'is not a known query parameter';
  }
}
