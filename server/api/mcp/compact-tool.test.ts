import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../operation/config.ts';
import { MCP_GROUPS } from '../../operation/mcp-groups.ts';
import { allTools, toolsOf } from '../../testing/platform-tools.ts';
import { RequestDraws, type Schema } from '../../testing/requests.ts';
import { compactTool } from './compact-tool.ts';

/** Tokenizers of current models make 3.5 to 4.5 bytes of English and JSON schemas one token. */
const BYTES_PER_TOKEN = 3.5;
const MAX_TOKENS = 10_000;
const MAX_TOKENS_PER_TOOL = 300;

const listOf = (groups: readonly string[]) =>
  toolsOf(groups).map(({ definition, brief }) => compactTool(definition, brief));
const tokensOf = (value: unknown) => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / BYTES_PER_TOKEN);

describe('the list of tools is short', () => {
  // If this fails, give the tool a shorter summary or fewer literals, or reduce the details in compact-tool.ts. Do not raise
  // the limits.
  test('of the default groups', () => {
    const tools = listOf(readConfig({}).mcp.groups);
    expect(tools.length).toBeGreaterThan(70);
    expect(tokensOf({ tools })).toBeLessThanOrEqual(MAX_TOKENS);
  });

  test.each(MCP_GROUPS)('of the group %s', group => {
    const tools = listOf([group]);
    expect(tokensOf({ tools })).toBeLessThanOrEqual((tools.length * MAX_TOKENS) / 60);
  });

  test.each(listOf(MCP_GROUPS).map(tool => [tool.name, tool] as const))('%s', (_, tool) => {
    expect(tokensOf(tool)).toBeLessThanOrEqual(MAX_TOKENS_PER_TOOL);
    expect(tool.description).toMatch(/^[A-Z].{9,118}[.]$/);
  });
});

describe('a tool in short', () => {
  test.each(allTools().map(tool => [tool.definition.name, tool] as const))('%s', (_, { definition, brief }) => {
    const short = compactTool(definition, brief);
    const { properties = {}, required = [] } = definition.inputSchema;
    // Every argument is named, and so is what is required.
    expect(Object.keys(short.inputSchema.properties ?? {})).toEqual(Object.keys(properties));
    expect(short.inputSchema.required ?? []).toEqual(required);
    expect(short.annotations).toMatchObject({ readOnlyHint: expect.any(Boolean), openWorldHint: expect.any(Boolean) });
    // Clients check arguments against it, so it never refuses what the whole schema allows.
    const whole = new Validator(definition.inputSchema as Schema, '2020-12', true);
    const shortened = new Validator(short.inputSchema as Schema, '2020-12', true);
    fc.assert(
      fc.property(new RequestDraws(definition.inputSchema).valid(definition.inputSchema), drawn => {
        const args: unknown = JSON.parse(JSON.stringify(drawn));
        if (whole.validate(args).valid) expect(shortened.validate(args).errors).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test('keeps types, choices and short descriptions, and says where fields are hidden', () => {
    const step = { type: 'object', properties: { id: { type: 'string', pattern: 'x' } }, required: ['id'] };
    const text = 'x'.repeat(200);
    const inputSchema = {
      type: 'object' as const,
      additionalProperties: false,
      properties: {
        id: { type: 'string', format: 'uuid', pattern: '^[0-9a-f-]+$', description: 'UUID', examples: ['0198'] },
        mode: { type: 'string', enum: ['a', 'b'], default: 'a', description: 'Short' },
        version: {
          anyOf: [
            { type: 'string', const: 'draft' },
            { type: 'integer', minimum: 1 },
          ],
        },
        limit: { anyOf: [{ type: 'integer', maximum: 9 }, { type: 'null' }], description: text },
        edits: { type: 'array', items: { oneOf: [step, step] } },
        graph: { ...step, properties: { ...step.properties, ...manyFields } },
        params: { type: 'object', description: text },
        any: {},
      },
      required: ['id'],
    };
    expect(compactTool({ name: 'x', description: 'Do it.\n\nREST: GET /x', inputSchema })).toEqual({
      name: 'x',
      description: 'Do it.',
      inputSchema: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          mode: { type: 'string', enum: ['a', 'b'] },
          version: { anyOf: [{ type: 'string', enum: ['draft'] }, { type: 'integer' }] },
          limit: { type: ['integer', 'null'] },
          edits: { type: 'array', items: { type: 'object', description: 'see describe_tool' } },
          graph: { type: 'object', description: 'see describe_tool' },
          params: { type: 'object' },
          any: {},
        },
        required: ['id'],
      },
      annotations: {},
    });
  });
});

const manyFields = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`field_${n}`, { type: 'string' }]));
