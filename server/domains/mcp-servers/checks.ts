import type { z } from 'zod';
import type { Services } from '../../operation/services.ts';
import { egressRefusal } from '../../platform/egress/egress.ts';
import type { McpTool } from '../../platform/mcp-client/index.ts';
import { describeDiff, diffCatalogs } from './catalog/diff.ts';
import { type Access, type LiveAnswer, readLive } from './live.ts';
import type { CheckReport } from './schemas.ts';

export type Check = z.output<typeof CheckReport>['checks'][number];

export const passed = (name: string, message: string): Check => ({ name, ok: true, message });
export const failed = (name: string, message: string): Check => ({ name, ok: false, message });
/** Returns a check that was skipped because an earlier one failed. */
export const notChecked = (name: string): Check => failed(name, 'Not checked because an earlier check failed.');

export function report(checks: Check[]): z.output<typeof CheckReport> {
  return { valid: checks.every(check => check.ok), checks };
}

/** The checks of a live server, in the order in which they depend on each other. */
export const liveChecks = ['url_allowed', 'reachable', 'authentication', 'protocol_version', 'tools_readable'] as const;
type LiveCheck = (typeof liveChecks)[number];

/** Returns the check to which a failure of the client belongs. A failure of a server that answered belongs to the protocol check. */
function failedAt(answer: LiveAnswer & { ok: false }): LiveCheck {
  switch (answer.failure.code) {
    case 'egress_refused':
      return 'url_allowed';
    case 'mcp_unauthorized':
      return 'authentication';
    case 'mcp_unreachable':
    case 'mcp_tls_failed':
    case 'mcp_connection_lost':
    case 'mcp_timeout':
    case 'mcp_rate_limited':
    case 'mcp_unavailable':
    case 'mcp_http_error':
      return answer.failure.stage === 'listing' ? 'tools_readable' : 'reachable';
    default:
      return answer.failure.stage === 'listing' ? 'tools_readable' : 'protocol_version';
  }
}

/** Makes the live checks, and compares the tools with `published`; null: no version to compare with. */
export async function checkLive(
  services: Pick<Services, 'egress' | 'clock'>,
  access: Access,
  published: { version: number; tools: readonly McpTool[] } | null,
): Promise<Check[]> {
  const refusal = (await egressRefusal(services.egress, access.url))?.message ?? null;
  if (refusal !== null) {
    return [failed('url_allowed', refusal), ...[...liveChecks.slice(1), 'catalogue_current'].map(notChecked)];
  }
  const answer = await readLive(services, access);
  const messages = describeAnswer(answer, Object.keys(access.headers).length > 0);
  if (answer.ok) {
    const checks = liveChecks.map(name => passed(name, messages[name]));
    return [...checks, checkCatalog(answer.tools, published)];
  }
  const at = liveChecks.indexOf(failedAt(answer));
  const checks = liveChecks.map((name, index) => {
    if (index === at) return failed(name, answer.failure.message);
    return index < at ? passed(name, messages[name]) : notChecked(name);
  });
  return [...checks, notChecked('catalogue_current')];
}

function describeAnswer(answer: LiveAnswer, authenticated: boolean): Record<LiveCheck, string> {
  const { info } = answer;
  return {
    url_allowed: 'The address may be called.',
    reachable: 'The server answers.',
    authentication: authenticated ? 'The server accepts the credentials.' : 'The server answers without credentials.',
    protocol_version:
      info === null
        ? 'The server speaks MCP.'
        : `The server speaks MCP ${info.protocolVersion} over ${info.transport === 'sse' ? 'SSE' : 'Streamable HTTP'}.`,
    tools_readable: answer.ok ? countTools(answer.tools.length, answer.warnings) : '',
  };
}

function countTools(count: number, warnings: readonly string[]): string {
  const toolsReadable = count === 1 ? 'One tool can be read.' : `${count} tools can be read.`;
  return [toolsReadable, ...warnings].join(' ');
}

function checkCatalog(
  live: readonly McpTool[],
  published: { version: number; tools: readonly McpTool[] } | null,
): Check {
  const name = 'catalogue_current';
  if (published === null) return failed(name, 'No version is published yet.');
  const difference = describeDiff(diffCatalogs(published, live));
  return difference === 'nothing'
    ? passed(name, `Version ${published.version} is what the server offers.`)
    : failed(name, `The server differs from version ${published.version}: ${difference}. Discover and publish again.`);
}
