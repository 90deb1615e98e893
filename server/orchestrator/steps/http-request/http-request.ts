import type { GraphStep, JsonValue } from '../../core/index.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type {
  Attempt,
  CheckScope,
  GraphCheck,
  Outcome,
  StepProblem,
  StepTrial,
  StepType,
} from '../../ports/step-type.ts';
import { fieldReader, ownFields, unavailableMessage } from '../common-fields.ts';
import { failed, outcomeOf } from '../failure.ts';
import { askAboutLost } from '../on-lost.ts';
import { stepsInTemplates } from '../reads.ts';
import { fieldProblems } from './check.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';
import { httpRequestFields, REPEATED_AT_RISK } from './fields.ts';
import type { HttpAnswer, HttpCall, HttpRequester } from './http-requester.ts';
import { type Pages, requestPages } from './pages.ts';
import { callOf } from './render.ts';
import { beforeTemplateInHost, fixedOrigin } from './url.ts';

const read = fieldReader(httpRequestFields);
const unavailable = unavailableMessage('http_request', 'this server sends no HTTP requests');

const trial: StepTrial = {
  replacedBecause: (step, { maySend }) => (maySend && isFixedRead(step) ? null : 'sends'),
  reaches({ url }) {
    const origin = typeof url === 'string' ? fixedOrigin(url) : null;
    return origin === null ? null : { urls: [origin] };
  },
  example: () => ({ status: 200, headers: {}, body: null }),
};

/** Whether a request only reads, and cannot leak data, because nothing in it comes from the run. */
function isFixedRead(step: GraphStep): boolean {
  const { method = 'GET', ...rest } = ownFields(step);
  return (method === 'GET' || method === 'HEAD') && !hasTemplateWithin(rest);
}

function hasTemplateWithin(value: JsonValue): boolean {
  if (typeof value === 'string') return hasTemplate(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => hasTemplate(key) || hasTemplateWithin(inner as JsonValue));
}

/**
 * `http_request` (docs/specification/steps.md#http_request): sends an HTTP request, and more requests for further
 * pages. Without `requester`, as in a simulation, only drafts may contain the type.
 */
export function httpRequest(requester: HttpRequester | undefined): StepType {
  return {
    type: 'http_request',
    ...description,
    ...facts,
    fields: httpRequestFields,
    available: requester ? true : { message: unavailable },
    external: true,
    io: true,
    dataFields: ['query', 'body', 'form', 'text', 'multipart'],
    filledFields: ['query', 'body', 'form', 'text', 'multipart'],
    approvalFields: ['on_lost'],
    // The templates of `pagination` read a response that has not arrived yet.
    rawFields: ['pagination'],
    trial,
    reads: stepsInTemplates,
    check: (step, scope) => check(requester, step, scope),
    checkInGraph: checkHost,
    async execute(attempt, signal) {
      if (!requester) return failed('step_type_unavailable', unavailable);
      try {
        return await request(requester, attempt, signal);
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

async function check(requester: HttpRequester | undefined, step: GraphStep, scope: CheckScope): Promise<StepProblem[]> {
  const parsed = httpRequestFields.safeParse(ownFields(step));
  // The schema's own problems are reported with the other fields.
  if (!parsed.success) return [];
  const problems = fieldProblems(parsed.data);
  if (!requester) return problems;
  const { url, connection_id: connectionId, auth } = parsed.data;
  const isKnown = connectionId !== undefined && !hasTemplate(connectionId);
  const credentials = isKnown ? { connectionId, auth } : null;
  return [...problems, ...(await requester.check(scope, { url: fixedOrigin(url), credentials }))];
}

/** Warns if the input of a run can choose the server to which the rest of the request is sent. */
function checkHost({ url, headers }: GraphStep, graph: GraphCheck): void {
  if (typeof url !== 'string') return;
  const before = beforeTemplateInHost(url);
  if (before === null) return;
  const all: unknown[] = typeof headers === 'object' && headers !== null ? Object.values(headers) : [];
  const hasLiteral = all.some(value => typeof value === 'string' && !hasTemplate(value));
  const message =
    before === ''
      ? 'the URL begins with a template, and the headers of this step are sent to whichever server it names: begin it with https://, a host and a /, or store the headers as a connection'
      : `the template after ${before} can change the host or the port, and headers and body are sent there: put a / before it`;
  if (before !== '' || hasLiteral) graph.warn({ path: 'url', code: 'template_in_host', message });
}

/** Renders everything before the first `await`, because large results of other steps exist only until then. */
async function request(requester: HttpRequester, attempt: Attempt, signal: AbortSignal): Promise<Outcome> {
  const fields = read(attempt.step);
  const call = callOf(attempt, fields);
  if (attempt.inDoubt && fields.on_lost === 'ask' && REPEATED_AT_RISK.has(call.method)) return askAbout(attempt, call);
  if (fields.pagination !== undefined) {
    return outcome(await requestPages(requester, call, fields.pagination, { signal }));
  }
  return outcome(await requester.send(call, { signal }));
}

/** Headers are not shown: they may contain values that only the service may read. */
function askAbout({ step }: Attempt, { method, url, body }: HttpCall): Outcome {
  const given = { method, url, ...(typeof body === 'string' && { body }) };
  const example = { status: 200, headers: {}, body: null };
  return askAboutLost({ step: step.name ?? step.id, did: 'sending a request', given, example });
}

function outcome(answer: HttpAnswer | Pages): Outcome {
  switch (answer.kind) {
    case 'response':
      return { kind: 'completed', result: answer.response };
    case 'pages':
      return { kind: 'completed', result: answer.pages, ...(answer.note !== undefined && { log: [answer.note] }) };
    case 'failed': {
      const { code, message, retryable, retryAfterMs, details } = answer;
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      return { kind: 'failed', error: { code, message, ...(details && { details }) }, retryable, ...wait };
    }
  }
}
