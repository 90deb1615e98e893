import { answerOf } from '../domains/mcp-servers/calls/tool-result.ts';
import { readLive } from '../domains/mcp-servers/live.ts';
import type { ToolAnswer } from '../orchestrator/steps/mcp-call/tool-caller.ts';
import { systemClock } from '../platform/clock.ts';
import { connectMcp, McpFailure } from '../platform/mcp-client/index.ts';
import type { OddServer, OddSwitches } from './odd-mcp-server.ts';

const TIMEOUT_MS = 10_000;
/** Words of a schema library, and of the JSON parser, that do not help a reader. */
const DUMP =
  /"code":\s*"|"path":\s*\[|invalid_type|invalid_union|Invalid input|ZodError|Unexpected (token|end)|undefined/;

/** The switches that make the server's list of tools endless. */
const ENDLESS = new Set(['same', 'loop', 'new']);

/**
 * Discovers an odd server and calls its tool. Returns what is wrong: the good tool is missing, a tool that ran has no
 * result, a failure is not the one that the server reported, a list was read without end, or a message is not
 * understandable.
 */
export async function judgeOddServer(server: OddServer, switches: Partial<OddSwitches>): Promise<string[]> {
  server.set(switches);
  const before = server.seen.length;
  const live = await readLive({ clock: systemClock }, { url: server.url, headers: {}, secrets: [], fetch });
  if (!live.ok) return [`the discovery failed: ${live.failure.message}`];
  const answer = await callGood(server.url);
  const messages = [...live.warnings, ...(answer.kind === 'failed' ? [answer.message] : [])];
  const lists = server.seen.slice(before).filter(({ message }) => message === 'tools/list').length;
  const { cursor = 'none', failure = 'none' } = switches;
  const isFailed = answer.kind === 'failed';
  return [
    ...(live.tools.some(({ name }) => name === 'good') ? [] : ['the good tool is not listed']),
    ...(lists <= 5 ? [] : [`${lists} pages were read`]),
    ...(!ENDLESS.has(cursor) || live.warnings.some(text => text.includes('repeats itself'))
      ? []
      : ['no word of a loop']),
    ...(isFailed === (failure !== 'none') ? [] : [`the call ended as ${JSON.stringify(answer)}`]),
    ...(!isFailed || answer.message.includes('order') ? [] : [`the reason is lost: ${answer.message}`]),
    ...messages.filter(text => text === '' || DUMP.test(text)).map(text => `no words: ${text}`),
  ];
}

async function callGood(url: string): Promise<ToolAnswer> {
  const session = await connectMcp({ url, headers: {}, fetch, timeoutMs: TIMEOUT_MS });
  try {
    return answerOf(
      await session.callTool({ name: 'good', args: {}, timeoutMs: TIMEOUT_MS, onProgress: () => undefined }),
    );
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    const { code, message, retryable } = error;
    return { kind: 'failed', code, message, retryable };
  } finally {
    await session.close();
  }
}
