import type { Services } from '../../operation/services.ts';
import { type ConnectOptions, connectMcp, McpFailure, type McpTool } from '../../platform/mcp-client/index.ts';
import { createRedactor } from '../../platform/secrets/redaction.ts';
import { bounds, cleanCatalog, cleanText } from './catalog/clean.ts';
import type { StoredServerInfo } from './servers/store.ts';

/** The time limit for a person at the console: a slower server counts as down. */
const TIMEOUT_MS = 15_000;
const MAX_WARNING_LENGTH = 500;

/** The address, the credentials for it, and the secrets that answers must not contain. */
export type Access = Pick<ConnectOptions, 'url' | 'headers' | 'fetch'> & { secrets: readonly string[] };

export type LiveServer = { info: StoredServerInfo; tools: McpTool[]; warnings: string[] };
export type LiveFailure = { stage: 'connecting' | 'listing'; code: string; message: string };
export type LiveAnswer =
  | ({ ok: true } & LiveServer)
  | { ok: false; failure: LiveFailure; info: StoredServerInfo | null };

/**
 * Connects to a server and reads its name and tools, cleaned and without the secrets that were sent. A failure of the
 * server is an answer, not an exception; the session is always closed.
 */
export async function readLive(
  { clock }: Pick<Services, 'clock'>,
  { url, headers, secrets, fetch }: Access,
): Promise<LiveAnswer> {
  const redactor = createRedactor(secrets);
  const failed = (stage: LiveFailure['stage'], error: unknown, info: StoredServerInfo | null): LiveAnswer => {
    if (!(error instanceof McpFailure)) throw error;
    const message = cleanText(redactor.text(error.message), 1_000);
    return { ok: false, failure: { stage, code: error.code, message }, info };
  };
  let session: Awaited<ReturnType<typeof connectMcp>>;
  try {
    session = await connectMcp({ url, headers, fetch, clock, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    return failed('connecting', error, null);
  }
  const { name, version, protocolVersion, instructions } = session.serverInfo;
  const clean = (text: string, max: number) => cleanText(redactor.text(text), max);
  const info: StoredServerInfo = {
    name: clean(name, bounds.titleLength),
    version: clean(version, bounds.titleLength),
    protocolVersion,
    transport: session.transport,
    ...(instructions === undefined ? {} : { instructions: clean(instructions, bounds.instructionsLength) }),
  };
  try {
    const listed = await session.listTools();
    // Tools are JSON: everything in them arrived as JSON.
    const redacted = listed.tools.map(tool => redactor.json(tool) as McpTool);
    const { tools, warnings } = cleanCatalog(redacted);
    const allWarnings = [...listed.warnings.map(warning => clean(warning, MAX_WARNING_LENGTH)), ...warnings];
    return { ok: true, info, tools, warnings: allWarnings.slice(0, bounds.warnings) };
  } catch (error) {
    return failed('listing', error, info);
  } finally {
    await session.close();
  }
}
