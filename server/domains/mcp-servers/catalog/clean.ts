import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { storageProblem } from '../../../platform/storable-json.ts';

/**
 * A server's texts are hostile input: they are shown to people and given to models. Real descriptions stay under 4,000
 * characters and real schemas under 30 KiB; the catalog of the largest known public server is 400 KiB.
 */
export const bounds = {
  tools: 1_000,
  nameLength: 200,
  titleLength: 200,
  descriptionLength: 8_000,
  instructionsLength: 8_000,
  schemaBytes: 65_536,
  catalogBytes: 2_097_152,
  warnings: 50,
} as const;

export type CleanCatalog = { tools: McpTool[]; warnings: string[] };

// Control characters except tab and newline, and characters that reorder or hide text (Cf: bidirectional marks,
// zero widths, tag characters).
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns well-formed text without invisible characters, at most `max` characters. */
export function cleanText(text: string, max: number): string {
  const clean = text
    .slice(0, max * 2)
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replace(hidden, '')
    .trim();
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).toWellFormed()}…`;
}

/** Returns the tools that can be stored, sorted by name, and warnings about what was left out or cut short. */
export function cleanCatalog(tools: readonly McpTool[]): CleanCatalog {
  const kept = new Map<string, McpTool>();
  const warnings: string[] = [];
  const warn = (text: string) => warnings.length < bounds.warnings && warnings.push(text);
  let bytes = 0;
  for (const tool of tools) {
    const label = cleanText(tool.name, 80) || '(no name)';
    const problem = kept.has(tool.name) ? 'its name is given twice' : whyUnfit(tool);
    if (problem !== null) {
      warn(`The tool “${label}” was left out: ${problem}.`);
      continue;
    }
    const clean = cleanTool(tool);
    bytes += bytesOf(clean);
    if (kept.size >= bounds.tools || bytes > bounds.catalogBytes) {
      warn(`Only the first ${kept.size} of ${tools.length} tools were kept: the catalog is too large.`);
      break;
    }
    if ((tool.description?.length ?? 0) > bounds.descriptionLength) {
      warn(`The description of “${label}” was cut at ${bounds.descriptionLength} characters.`);
    }
    kept.set(tool.name, clean);
  }
  const sorted = [...kept.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { tools: sorted, warnings };
}

/**
 * Returns why a tool cannot be stored, or null. A tool cannot be called correctly if its displayed name differs from its real one,
 * or if its schema cannot be stored unchanged.
 */
function whyUnfit(tool: McpTool): string | null {
  if (tool.name === '' || tool.name.length > bounds.nameLength)
    return `its name must have 1 to ${bounds.nameLength} characters`;
  if (tool.name !== tool.name.toWellFormed().replace(hidden, '').trim() || /\s/.test(tool.name)) {
    return 'its name contains white space or invisible characters';
  }
  for (const [what, schema] of [
    ['input schema', tool.inputSchema],
    ['output schema', tool.outputSchema],
    ['annotations', tool.annotations],
  ] as const) {
    if (schema === undefined) continue;
    const problem = storageProblem(schema);
    if (problem !== null) return `its ${what} ${problem.message}`;
    if (bytesOf(schema) > bounds.schemaBytes) return `its ${what} is larger than ${bounds.schemaBytes / 1024} KiB`;
  }
  return null;
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

function cleanTool(tool: McpTool): McpTool {
  const title = tool.title === undefined ? '' : cleanText(tool.title, bounds.titleLength);
  const description = tool.description === undefined ? '' : cleanText(tool.description, bounds.descriptionLength);
  return {
    name: tool.name,
    ...(title === '' ? {} : { title }),
    ...(description === '' ? {} : { description }),
    inputSchema: cleanSchema(tool.inputSchema) as McpTool['inputSchema'],
    ...(tool.outputSchema === undefined
      ? {}
      : { outputSchema: cleanSchema(tool.outputSchema) as NonNullable<McpTool['outputSchema']> }),
    ...(tool.annotations === undefined
      ? {}
      : { annotations: cleanSchema(tool.annotations) as NonNullable<McpTool['annotations']> }),
  };
}

const prose: ReadonlySet<string> = new Set(['title', 'description', '$comment']);

/** Cleans the prose in a schema, but nothing that affects validity: patterns, constants and names stay unchanged. */
function cleanSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(cleanSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      prose.has(key) && typeof value === 'string' ? cleanText(value, bounds.descriptionLength) : cleanSchema(value),
    ]),
  );
}
