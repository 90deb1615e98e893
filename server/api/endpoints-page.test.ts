import { expect, test } from 'vitest';
import type { AnyOperation } from '../operation/operation.ts';
import { operations } from './operations.ts';

const intro = `# Endpoints

Every operation of the API, from the registry that serves it. \`server/api/endpoints-page.test.ts\`
fails when this page lags behind; with \`npx vitest run server/api/endpoints-page.test.ts -u\` it
writes the page. Requests and responses are in the OpenAPI description at \`/v1/openapi.json\`.

- **role**: the least [role](authentication.md#roles); *member*, any user of the workspace;
  *public*, no credential.
- **scope**: what a [token](authentication.md#scopes) needs; –, none.
- **MCP**: the [group](mcp.md#tool-groups) of the tool with the operation's name.
`;

function roleOf({ access }: AnyOperation): string {
  return access === 'member' || access === 'public' ? `*${access}*` : access;
}

function scopeOf(operation: AnyOperation): string {
  return operation.access === 'public' || operation.scope === null ? '–' : `\`${operation.scope}\``;
}

function toolOf({ mcp }: AnyOperation): string {
  if (mcp === undefined || mcp.tool === false) return '–';
  return mcp.risk ? `${mcp.group}, risk` : mcp.group;
}

function rowOf(operation: AnyOperation): string {
  const { method, path, status, name, feature } = operation;
  const needs = feature === undefined ? '' : ` (feature ${feature})`;
  const cells = [
    `\`${method} ${path}\`${needs}`,
    `\`${name}\``,
    roleOf(operation),
    scopeOf(operation),
    status,
    toolOf(operation),
  ];
  return `| ${cells.join(' | ')} |`;
}

const header = ['| operation | name | role | scope | status | MCP |', '|---|---|---|---|---|---|'];

test('docs/specification/endpoints.md lists every operation as it is declared', async () => {
  const groups = Map.groupBy<string, AnyOperation>(operations, ({ tag }) => tag);
  const sections = [...groups].map(([tag, of]) => [`## ${tag}`, ...header, ...of.map(rowOf), ''].join('\n'));
  const page = [intro, ...sections].join('\n');
  await expect(page).toMatchFileSnapshot('../../docs/specification/endpoints.md');
});
