import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { connectMcp } from '../../platform/mcp-client/index.ts';
import { judgeOddServer } from '../../testing/odd-mcp-judge.ts';
import { ODD_SWITCHES, type OddServer, type OddSwitches, startOddServer } from '../../testing/odd-mcp-server.ts';
import { ODD_TOOLS } from '../../testing/odd-mcp-values.ts';
import { readLive } from './live.ts';

let server: OddServer;
beforeAll(async () => {
  server = await startOddServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function discovered(switches: Partial<OddSwitches>) {
  server.set(switches);
  const live = await readLive({ clock: systemClock }, { url: server.url, headers: {}, secrets: [], fetch });
  if (!live.ok) throw new Error(live.failure.message);
  return live;
}

const positions = Object.entries(ODD_SWITCHES).flatMap(([name, values]) =>
  [...values].map(value => [name, value] as const),
);

describe.each(['json', 'events', 'sse'] as const)('a server that answers with %s', transport => {
  // The transport does not affect the content of an answer.
  const matters = (name: string) => transport === 'json' || ['frame', 'envelope', 'failure', 'progress'].includes(name);
  test.each(positions.filter(([name]) => name !== 'transport' && matters(name)))(
    'can be used with %s: %s',
    async (name, value) => {
      expect(await judgeOddServer(server, { transport, [name]: value })).toEqual([]);
    },
  );
});

test('a server with any combination of switches can be used', { timeout: 60_000 }, async () => {
  const switches = fc.record(
    Object.fromEntries(Object.entries(ODD_SWITCHES).map(([name, values]) => [name, fc.constantFrom(...values)])),
  ) as unknown as fc.Arbitrary<OddSwitches>;
  await fc.assert(
    fc.asyncProperty(switches, async drawn => {
      expect(await judgeOddServer(server, drawn)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

describe('discovery says in words what it leaves out or ignores', () => {
  const leftOut = (why: string) => ({ isKept: false, warnings: [`The tool “odd” was left out: ${why}.`] });
  const entry = (why: string) => ({ isKept: false, warnings: [`Entry 2 of the list of tools was left out: ${why}.`] });
  const ignored = (...texts: string[]) => ({
    isKept: true,
    warnings: texts.map(text => `The ${text.replace(':', ' of the tool “odd” was ignored: it is not')}.`),
  });
  const expected: Record<string, { isKept: boolean; warnings: string[] }> = {
    'no input schema': {
      isKept: true,
      warnings: ['The tool “odd” has no input schema: it is given any arguments.'],
    },
    'null input schema': {
      isKept: true,
      warnings: ['The tool “odd” has no input schema: it is given any arguments.'],
    },
    'the input schema false': leftOut('its input schema accepts no arguments'),
    'text as input schema': leftOut('its input schema is not a JSON Schema'),
    'an input schema of text': leftOut('its input schema does not describe an object'),
    'a number as title': ignored('title: text'),
    'a list as description': ignored('description: text'),
    'a list as output schema': ignored('output schema: an object'),
    'the output schema true': ignored('output schema: an object'),
    'a list as annotations': ignored('annotations: an object'),
    'hints that are text': ignored('readOnlyHint: true or false', 'destructiveHint: true or false'),
    'no name': entry('it has no name'),
    'a null name': entry('it has no name'),
    'a number as name': entry('it has no name'),
    null: entry('it is not an object'),
    text: entry('it is not an object'),
    list: entry('it is not an object'),
    'an empty name': {
      isKept: false,
      warnings: ['The tool “(no name)” was left out: its name must have 1 to 200 characters.'],
    },
    'a name with spaces': {
      isKept: false,
      warnings: ['The tool “odd tool” was left out: its name contains white space or invisible characters.'],
    },
    'the name of another': {
      isKept: false,
      warnings: ['The tool “good” was left out: its name is given twice.'],
    },
  };
  test.each(Object.keys(ODD_TOOLS))('a tool with %s', async tool => {
    const { tools, warnings } = await discovered({ tool });
    const { isKept, warnings: said } = expected[tool] ?? { isKept: true, warnings: [] };
    expect(tools.map(({ name }) => name)).toEqual(isKept ? ['good', 'odd'] : ['good']);
    expect(warnings).toEqual(said);
  });

  test('reads hints that are not booleans in the cautious way', async () => {
    const { tools } = await discovered({ tool: 'hints that are text' });
    expect(tools[1]?.annotations).toEqual({ destructiveHint: true });
  });

  test('keeps as much as possible of schemas', async () => {
    const schemaOf = async (tool: string) => (await discovered({ tool })).tools[1]?.inputSchema;
    expect(await schemaOf('no input schema')).toEqual({ type: 'object' });
    expect(await schemaOf('an empty input schema')).toEqual({});
    expect(await schemaOf('a boolean subschema')).toEqual({ type: 'object', properties: { a: true, b: false } });
    expect(await schemaOf('properties that are a list')).toMatchObject({ properties: {} });
  });

  test('keeps as much as possible of interrupted lists', async () => {
    expect((await discovered({ cursor: 'object' })).warnings).toEqual([
      'The list of tools was not read further: the cursor of the next page is not text.',
    ]);
    expect((await discovered({ cursor: 'no-list' })).warnings).toEqual([
      'The list of tools was not read further: a page of it holds no list.',
    ]);
  });
});

test('a server’s description of itself is read as far as it is valid', async () => {
  const infoOf = async (greeting: OddSwitches['greeting']) => (await discovered({ greeting })).info;
  expect(await infoOf('no-version')).toMatchObject({ name: 'odd', version: '' });
  expect(await infoOf('number-version')).toMatchObject({ name: 'odd', version: '1.2' });
  expect(await infoOf('null-server-info')).toMatchObject({ name: 'unknown', version: '' });
  expect(await infoOf('no-protocol')).toMatchObject({ protocolVersion: '2025-03-26' });
  expect(await infoOf('null-instructions')).not.toHaveProperty('instructions');
});

test('progress is reported although its total is null', async () => {
  for (const progress of ['plain', 'null-total', 'text-numbers'] as const) {
    server.set({ transport: 'events', progress });
    const session = await connectMcp({ url: server.url, headers: {}, fetch, timeoutMs: 10_000 });
    const reported: number[] = [];
    const onProgress = (one: { progress: number }) => void reported.push(one.progress);
    await session.callTool({ name: 'good', args: {}, timeoutMs: 10_000, onProgress });
    expect(reported).toEqual([1]);
    await session.close();
  }
});

test.each(['details', 'error-with-data', 'http'] as const)(
  'the structured details of a failure are kept: %s',
  async failure => {
    server.set({ failure });
    const session = await connectMcp({ url: server.url, headers: {}, fetch, timeoutMs: 10_000 });
    const call = session.callTool({ name: 'good', args: {}, timeoutMs: 10_000 });
    const given = await call.then(
      result => result.structuredContent,
      error => error.data,
    );
    expect(given).toEqual({ order: 7 });
    await session.close();
  },
);
