import type { Principal } from '../operation/context.ts';
import type { JsonMap, JsonValue } from '../orchestrator/core/index.ts';
import type { Scope } from '../orchestrator/ports/authority.ts';
import type { PlatformCall, PlatformTools } from '../orchestrator/steps/agent/platform-tools.ts';
import type { RunAuthority, Standing } from '../orchestrator/steps/agent/run-authority.ts';
import type { OfferedTool } from '../orchestrator/steps/agent/tools.ts';
import type { ToolAnswer } from '../orchestrator/steps/mcp-call/tool-caller.ts';
import { AppError, type ErrorDetail } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { whileDatabaseAway } from '../platform/postgres/while-away.ts';
import { agentOperationTools } from './mcp/operation-tools.ts';
import type { McpOptions, PlatformTool } from './mcp/platform-tool.ts';

type Run = PlatformCall['run'];
type Brief = { input: (schema: JsonMap) => JsonMap; output: (output: JsonValue) => JsonValue };
/** The maximum number of problems of a request that a model gets. */
const MAX_DETAILS = 10;

/**
 * The operations of this service as tools of agents, with the checks of every surface and the rights of the person for whom the
 * run acts. `connect` is called once the service exists. `briefs`: short descriptions that a model reads instead of the full
 * ones.
 */
export function createPlatformTools(
  authority: RunAuthority,
  briefs: Readonly<Record<string, Brief>> = {},
): PlatformTools & { connect(options: McpOptions): void } {
  let connected: McpOptions | undefined;
  let made: ReadonlyMap<string, PlatformTool> | undefined;
  // Made for the first agent: describing their arguments takes 20 ms of CPU.
  const tools = (): ReadonlyMap<string, PlatformTool> => {
    if (connected === undefined) return new Map();
    made ??= new Map(agentOperationTools(connected).map(tool => [tool.definition.name, tool]));
    return made;
  };
  const briefOf = (name: string) => (Object.hasOwn(briefs, name) ? briefs[name] : undefined);
  return {
    connect(options) {
      connected = options;
      made = undefined;
    },
    unknown: names => names.filter(name => !tools().has(name)),
    async offer(run, names, signal) {
      const standing = await authority.standing(run, signal);
      if (standing.kind === 'lost') return [];
      const principal = principalOf(run, standing);
      return names.flatMap(name => {
        const tool = tools().get(name);
        return tool?.usable(principal) ? [offered(tool, briefOf(name))] : [];
      });
    },
    async call({ run, step, operation, args }, signal) {
      const tool = tools().get(operation);
      if (tool === undefined) return failure('unknown_tool', 'There is no such tool.');
      const standing = await authority.standing(run, signal);
      if (standing.kind === 'lost') return failure(standing.code, standing.message);
      const principal = principalOf(run, standing);
      if (!tool.usable(principal)) return failure('authority_lost', `${standing.email} may not call ${operation}.`);
      const agentCall = { runId: run.id, stepId: step };
      const caller = { principal, requestId: newId(), agentCall, onDisconnect: whenAborted(signal) };
      const answer = await answerOf(tool, args, caller, signal);
      const brief = briefOf(operation);
      return answer.kind === 'result' && brief ? { ...answer, result: brief.output(answer.result) } : answer;
    },
  };
}

/** Ends an operation that waits for something when the call is aborted. */
const whenAborted = (signal: AbortSignal) => (listener: () => void) => {
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
};

function principalOf(run: Run, { userId, email, role, scopes, patId }: Extract<Standing, { kind: 'held' }>): Principal {
  const { tenantId, projectId } = run;
  const credential =
    patId == null
      ? ({ kind: 'session' } as const)
      : ({ kind: 'pat', patId, scopes: scopes as readonly Scope[] } as const);
  return { userId, email, name: email, tenantId, projectId, role, credential };
}

/** Describes an operation as a tool. Its result may contain text from outside, such as from a tool or the sender of a delivery. */
function offered(
  { definition: { name, description = '', inputSchema, annotations } }: PlatformTool,
  brief: Brief | undefined,
): OfferedTool {
  const schema = inputSchema as JsonMap;
  return {
    name,
    description,
    inputSchema: brief?.input(schema) ?? schema,
    readOnly: annotations?.readOnlyHint === true,
    destructive: annotations?.destructiveHint === true,
    idempotent: annotations?.idempotentHint === true,
    openWorld: true,
  };
}

/**
 * Calls the tool. Operations that only read wait while the database is away; for all others it would be unknown whether
 * they were carried out.
 */
async function answerOf(
  tool: PlatformTool,
  args: JsonMap,
  caller: Parameters<PlatformTool['call']>[0],
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const call = () => tool.call(caller, args);
  try {
    const isRead = tool.definition.annotations?.readOnlyHint === true;
    const result = await (isRead ? whileDatabaseAway(signal, call) : call());
    return { kind: 'result', result: (result ?? null) as JsonValue };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return failure(error.code, [error.message, ...(error.details ?? []).slice(0, MAX_DETAILS).map(lineOf)].join('\n'));
  }
}

const lineOf = ({ path, message, hint }: ErrorDetail): string =>
  [`${path}: ${message}`, hint].filter(text => text !== undefined).join(' — ');

const failure = (code: string, message: string): ToolAnswer => ({ kind: 'failed', code, message, retryable: false });
