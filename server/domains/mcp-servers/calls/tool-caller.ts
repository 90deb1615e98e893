import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import type { StepProblem } from '../../../orchestrator/ports/step-type.ts';
import type { ToolAnswer, ToolCall, ToolCaller } from '../../../orchestrator/steps/mcp-call/tool-caller.ts';
import { cleanJson } from '../../../platform/clean-json.ts';
import { DAY_MS } from '../../../platform/clock.ts';
import { sha256 } from '../../../platform/crypto/digest.ts';
import { AppError } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { connectMcp, McpFailure, type McpTool, SessionPool } from '../../../platform/mcp-client/index.ts';
import { inSecretScope } from '../../../platform/secrets/in-use.ts';
import { createRedactor, type Redactor } from '../../../platform/secrets/redaction.ts';
import { withDefaultArgs } from '../instances/settings.ts';
import { type Binding, type BindingServices, bindInstance, findOffer, instanceProblem } from './binding.ts';
import { argumentProblems } from './input-schema.ts';
import { createProgressLog } from './progress-log.ts';
import { templatedArgumentProblems } from './templated-arguments.ts';
import { answerOf } from './tool-result.ts';

/** Initializing a running server takes well under a second; one that starts on demand takes some. */
const CONNECT_MS = 30_000;
/** A call is ended by the step's `timeout_s`, through its signal: until then a tool may be silent. */
const CALL_MS = DAY_MS;
const MAX_MESSAGE_LENGTH = 4_000;

type Failed = Extract<ToolAnswer, { kind: 'failed' }>;

/** The ToolCaller of this process; closing it ends its sessions with servers. */
export type McpToolCaller = ToolCaller & { close(): Promise<void> };

/** Creates a caller of the tools of MCP instances. Its sessions are reused for a while. */
export function createToolCaller(services: BindingServices): McpToolCaller {
  const sessions = new SessionPool({ clock: services.clock });
  return {
    async check(scope, { instanceId, toolName, args }) {
      try {
        const offer = await findOffer(services, { ...scope, instanceId });
        const tool = offer.tools.find(one => one.name === toolName);
        if (!tool) return [unknownTool(offer.instance.name, toolName, offer.tools)];
        const schema = tool.inputSchema as JsonMap;
        return templatedArgumentProblems(schema, withDefaultArgs(args ?? {}, offer.defaultArgs, schema));
      } catch (error) {
        return [instanceProblem(error)];
      }
    },
    call: (call, on) =>
      inSecretScope(async () => {
        const binding = await bindOrFail(services, call);
        if ('kind' in binding) return binding;
        return await callTool(services, sessions, binding, call, on);
      }),
    close: () => sessions.close(),
  };
}

function unknownTool(instance: string, name: string, tools: readonly McpTool[]): StepProblem {
  const some = tools.slice(0, 10).map(tool => tool.name);
  const more = tools.length > some.length ? ', …' : '';
  const offers = some.length === 0 ? 'It offers none.' : `It offers ${some.join(', ')}${more}.`;
  const message = `the instance “${instance}” has no tool “${name.slice(0, 200)}”. ${offers}`;
  return { path: 'tool_name', code: 'unknown_tool', message };
}

const unsent = (code: string, message: string, retryable: boolean): Failed => ({
  kind: 'failed',
  code,
  message,
  retryable,
  unsent: true,
});

async function bindOrFail(services: BindingServices, call: ToolCall): Promise<Binding | Failed> {
  try {
    return await bindInstance(services, call);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const code = error.status === 404 ? 'unknown_instance' : error.code;
    return unsent(code, error.message, error.status >= 500);
  }
}

/**
 * Returns the key of a session. Each combination of server and credentials has a separate session, so that no call uses
 * one that was opened with other credentials.
 */
function sessionKey({ url, headers, instance }: Binding, { tenantId }: ToolCall): string {
  const secret = sha256(JSON.stringify([url, Object.entries(headers).sort()])).toString('base64url');
  return `${tenantId}/${instance.id}/${secret}`;
}

async function callTool(
  services: BindingServices,
  sessions: SessionPool,
  binding: Binding,
  call: ToolCall,
  on: { signal: AbortSignal; log: (lines: string[]) => void },
): Promise<ToolAnswer> {
  const tool = binding.tools.find(one => one.name === call.toolName);
  if (!tool)
    return unsent('unknown_tool', unknownTool(binding.instance.name, call.toolName, binding.tools).message, false);
  const args = withDefaultArgs(call.args, binding.defaultArgs, tool.inputSchema as JsonMap);
  const redactor = createRedactor(binding.secrets);
  const problems = argumentProblems(tool.inputSchema as JsonMap, args);
  if (problems.length > 0) {
    const problemTexts = problems.slice(0, 5).map(({ path, message }) => `${path}: ${message}`);
    return unsent('tool_args_invalid', redactor.text(problemTexts.join(' ')), false);
  }
  const { url, headers, fetch } = binding;
  const { clock } = services;
  const progress = createProgressLog(on.log, redactor.text);
  try {
    const result = await sessions.run(
      sessionKey(binding, call),
      signal => connectMcp({ url, headers, fetch, clock, timeoutMs: CONNECT_MS, signal }),
      session =>
        session.callTool({
          name: call.toolName,
          args: args as JsonObject,
          meta: metaOf(binding, call),
          signal: on.signal,
          onProgress: progress.add,
          timeoutMs: CALL_MS,
        }),
      on.signal,
    );
    return redacted(
      answerOf(result, line => on.log([redactor.text(line).slice(0, MAX_MESSAGE_LENGTH)])),
      redactor,
    );
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    return redacted(failedOf(error), redactor);
  } finally {
    progress.end();
  }
}

/**
 * Returns the metadata of a call, with the idempotency key by which a tool recognizes a second attempt of a step
 * (docs/specification/steps.md#idempotency-key).
 */
function metaOf({ config }: Binding, { idempotencyKey, traceparent }: ToolCall): JsonObject {
  return {
    idempotency_key: idempotencyKey,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(config === null ? {} : { config: config as JsonObject }),
  };
}

function failedOf({ code, message, data, retryable, retryAfterMs, unsent: never }: McpFailure): Failed {
  return {
    kind: 'failed',
    code,
    message: cleanJson(message) as string,
    ...(data === undefined ? {} : { details: cleanJson(data) as JsonValue }),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(never ? { unsent: true } : {}),
  };
}

function redacted(answer: ToolAnswer, redactor: Redactor): ToolAnswer {
  if (answer.kind === 'result') return { ...answer, result: redactor.json(answer.result) };
  // Cut only after redaction: the first half of a secret is secret too.
  const { message, details } = answer;
  return {
    ...answer,
    message: redactor.text(message).slice(0, MAX_MESSAGE_LENGTH),
    ...(details === undefined ? {} : { details: redactor.json(details) }),
  };
}
