import { decodeBase64 } from '../../../platform/encoded-bytes.ts';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { InvalidStep } from '../common-fields.ts';
import { bodiesOf, fieldProblems, methodProblem } from './check.ts';
import { bodyRefusal, type HttpRequestFields, MAX_REQUEST_BYTES, statusTest, UNSAFE_METHODS } from './fields.ts';
import type { HttpCall } from './http-requester.ts';
import { encodeParameters, headersOf, isScalar } from './parameters.ts';
import { urlOf } from './url.ts';

/**
 * Returns the request that an attempt sends, after rendering and checking everything. Throws InvalidStep,
 * TemplateSyntaxError, TemplateUnresolved and RenderedTooLarge.
 */
export function callOf(attempt: Attempt, fields: HttpRequestFields): HttpCall {
  const [problem] = fieldProblems(fields);
  if (problem) throw new InvalidStep(`${problem.path}: ${problem.message}`);
  const rendering = new Rendering(attempt);
  const { tenantId, projectId } = attempt.run;
  const method = methodOf(fields, rendering);
  const headers = headersOf(renderedHeaders(fields, rendering));
  const body = bodyOf(fields, rendering, headers);
  const refusal = body === null ? null : bodyRefusal(method, fields.body_with_get);
  if (refusal !== null) throw new InvalidStep(`method: ${refusal}`);
  if (UNSAFE_METHODS.has(method) && !headers.has('idempotency-key')) {
    headers.set('idempotency-key', `${attempt.run.id}:${attempt.step.id}`);
  }
  if (attempt.traceparent !== undefined && !headers.has('traceparent')) headers.set('traceparent', attempt.traceparent);
  const { connection_id: connectionId, auth, expect, follow_redirects: followRedirects = true } = fields;
  return {
    tenantId,
    projectId,
    method,
    url: addressOf(attempt, fields, rendering),
    headers,
    body,
    credentials:
      connectionId === undefined ? null : { connectionId: rendering.text('connection_id', connectionId), auth },
    followRedirects,
    response: fields.response ?? 'auto',
    expects: statusTest(expect),
  };
}

/**
 * Renders the headers. A name from a template is checked like any other: some headers belong to the body or the
 * connection.
 */
function renderedHeaders(fields: HttpRequestFields, rendering: Rendering): JsonMap {
  const { headers = {} } = fields;
  const rendered = rendering.value('headers', headers) as JsonMap;
  const [problem] = Object.keys(headers).some(hasTemplate)
    ? fieldProblems({ ...fields, headers: rendered as typeof headers })
    : [];
  if (problem) throw new InvalidStep(`${problem.path}: ${problem.message}`);
  return rendered;
}

function methodOf({ method = 'GET', pagination }: HttpRequestFields, rendering: Rendering): string {
  const rendered = rendering.text('method', method);
  const problem = methodProblem(rendered);
  if (problem !== null) throw new InvalidStep(`method: ${problem}`);
  if (pagination !== undefined && rendered !== 'GET') throw new InvalidStep('pagination: needs the method GET');
  return rendered;
}

/** Adds the parameters to the query of the URL, and leaves the rest of the URL unchanged. */
function addressOf(attempt: Attempt, { url, query }: HttpRequestFields, rendering: Rendering): string {
  const address = urlOf(url, attempt);
  const added = query === undefined ? '' : encodeParameters('query', rendering.value('query', query) as JsonMap);
  if (added !== '') address.search = address.search === '' ? added : `${address.search}&${added}`;
  return address.href;
}

function bodyOf(
  fields: HttpRequestFields,
  rendering: Rendering,
  headers: Map<string, string>,
): string | FormData | null {
  const typed = (type: string, text: string) => {
    if (!headers.has('content-type')) headers.set('content-type', type);
    return limited(text);
  };
  const [name] = bodiesOf(fields);
  if (name === undefined) return null;
  switch (name) {
    case 'body': {
      const value = rendering.value('body', fields.body ?? null, MAX_REQUEST_BYTES);
      return typed('application/json', JSON.stringify(value));
    }
    case 'form': {
      const form = rendering.value('form', fields.form ?? {}, MAX_REQUEST_BYTES) as JsonMap;
      return typed('application/x-www-form-urlencoded', encodeParameters('form', form));
    }
    case 'text':
      return typed('text/plain; charset=utf-8', rendering.text('text', fields.text ?? '', MAX_REQUEST_BYTES));
    case 'multipart':
      return partsOf(fields.multipart ?? [], rendering);
  }
}

function limited(text: string): string {
  if (Buffer.byteLength(text) <= MAX_REQUEST_BYTES) return text;
  throw new InvalidStep(`the body of the request is larger than ${MAX_REQUEST_BYTES / 1024 / 1024} MiB`);
}

function partsOf(parts: NonNullable<HttpRequestFields['multipart']>, rendering: Rendering): FormData {
  const form = new FormData();
  let bytes = 0;
  for (const [index, part] of parts.entries()) {
    const field = `multipart[${index}]`;
    const value = rendering.value(`${field}.value`, part.value, MAX_REQUEST_BYTES);
    const content = contentOf(value, part.encoding, `${field}.value`);
    bytes += content.byteLength;
    if (bytes > MAX_REQUEST_BYTES) throw new InvalidStep('multipart: is larger than 4 MiB');
    const filename = part.filename === undefined ? undefined : rendering.text(`${field}.filename`, part.filename);
    const written = part.content_type && rendering.text(`${field}.content_type`, part.content_type);
    const type = written ?? (isScalar(value) ? undefined : 'application/json');
    if (filename === undefined && type === undefined && part.encoding === undefined) {
      form.append(part.name, textOf(value));
    } else {
      // FormData gives every part with bytes a file name. Without its own, the field's name is used.
      form.append(part.name, new Blob([content], { type: type ?? 'application/octet-stream' }), filename ?? part.name);
    }
  }
  return form;
}

const textOf = (value: JsonValue) => (typeof value === 'string' ? value : JSON.stringify(value));

function contentOf(value: JsonValue, encoding: 'base64' | undefined, field: string): Uint8Array<ArrayBuffer> {
  if (encoding === undefined) return Buffer.from(textOf(value));
  const bytes = typeof value === 'string' ? decodeBase64(value) : null;
  if (bytes === null) throw new InvalidStep(`${field}: is not base64`);
  return Buffer.from(bytes);
}
