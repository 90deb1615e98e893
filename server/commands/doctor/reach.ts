import pLimit from 'p-limit';
import type pg from 'pg';
import { addressOfKey } from '../../domains/models/directory.ts';
import type { Config } from '../../operation/config.ts';
import { demoMcpAddresses } from '../../operation/demo-mcp.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { createEgress, type Egress, EgressRefused } from '../../platform/egress/egress.ts';
import { modelProviders } from '../../platform/models/providers.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { look, readAddresses } from './queries.ts';

const MOST = 100;
const AT_ONCE = 8;
const TIMEOUT_MS = 5_000;

type Target = { what: 'model' | 'MCP server'; url: string };

/**
 * Whether the model providers and MCP servers of all workspaces answer, through the egress guard and without credentials: any
 * answer will do. Lines name origins only, because a path may be a secret.
 */
export async function checkReach(
  db: pg.Client,
  config: Pick<Config, 'egress' | 'http' | 'demoMcp'>,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Finding[]> {
  const targets = await readTargets(db);
  if (targets.length === 0) return [ok('reach', 'No workspace has a model key or an MCP server.')];
  const egress = createEgress({
    allowPrivate: config.egress.allowPrivate,
    exempt: config.demoMcp ? demoMcpAddresses(config.http) : [],
  });
  try {
    const limit = pLimit(AT_ONCE);
    return await Promise.all(targets.map(target => limit(() => reach(egress, target, timeoutMs))));
  } finally {
    await egress.close();
  }
}

async function readTargets(db: pg.Client): Promise<Target[]> {
  const { keys, servers } = await look(db, tx => readAddresses(tx, modelProviders, MOST));
  const models = keys.map(({ provider, config }) => addressOfKey({ provider, config: config as JsonMap }));
  const all: Target[] = [
    ...models.map(url => ({ what: 'model' as const, url })),
    ...servers.map(url => ({ what: 'MCP server' as const, url })),
  ];
  const known = new Set<string>();
  return all.filter(({ url }) => url !== '' && !known.has(url) && known.add(url)).slice(0, MOST);
}

async function reach(egress: Egress, { what, url }: Target, timeoutMs: number): Promise<Finding> {
  const name = URL.canParse(url) ? `${what} at ${new URL(url).origin}` : `${what} at an address that is none`;
  const began = performance.now();
  try {
    const response = await egress.fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    void response.body?.cancel().catch(() => undefined);
    const ms = Math.round(performance.now() - began);
    return ok('reach', `The ${name} answers (${response.status}, ${ms} ms).`, { status: response.status, ms });
  } catch (error) {
    if (error instanceof EgressRefused)
      return warning('reach', `The ${name} may not be called: ${error.message}`, 'See BATON_ALLOW_PRIVATE_NETWORK.');
    const advice = 'Look at the name service, the firewall and the server.';
    return problem('reach', `The ${name} does not answer (${codeOf(error, timeoutMs)}).`, advice);
  }
}

/** A code, or the kind of the error: messages may repeat an address. */
function codeOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return `none within ${timeoutMs / 1000} s`;
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}
