import type { WebSocket } from 'ws';
import type { RegisteredOperation } from '../../server/api/registry.ts';

/**
 * The largest and most repetitive inputs that an operation's limits permit: from its JSON Schema, each field in turn at
 * its maximum length, width and depth within the body limit; and documents in the languages that Baton reads.
 */
const MAX_BODY_BYTES = 1024 * 1024;
const ROOM = MAX_BODY_BYTES - 16_384;
/** The server's limit for a request line and its headers. */
const MAX_QUERY_CHARACTERS = 8_000;

type Schema = { [keyword: string]: unknown };
const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The repeated texts. Each of them once made a parser or scanner take more time than is proportional to the length. */
const UNITS = ['{{input.a ?? [', '(a?)', '{{steps.a.result}}', '"', '\u{1f600}', 'a.'];
/** A text with a lower maximum length cannot be very repetitive, so two units are enough. */
const SHORT_TEXT = 10_000;
const repeated = (unit: string, length: number): string => unit.repeat(Math.max(1, Math.floor(length / unit.length)));

/** Returns the bytes in a JSON body for each UTF-16 unit of a text. */
const bytesFor = (unit: string): number => Buffer.byteLength(JSON.stringify(unit)) - 2;

/**
 * A value as JSON in UTF-8. Hundreds of fields share each value: creating it for each field took half of the test's CPU
 * time.
 */
type Value = Buffer;
const valueFrom = (value: unknown): Value => Buffer.from(JSON.stringify(value));

const cachedTexts = new Map<string, Value>();
/** Returns the unit, repeated up to a length in UTF-16 units. */
function textOf(unit: string, length: number): Value {
  const key = `${length} ${unit}`;
  const made = cachedTexts.get(key) ?? valueFrom(repeated(unit, length));
  cachedTexts.set(key, made);
  return made;
}

function texts(schema: Schema, room: number): Value[] {
  const { maxLength } = schema;
  const isShort = typeof maxLength === 'number' && maxLength < SHORT_TEXT;
  return UNITS.slice(0, isShort ? 2 : UNITS.length).map(unit => {
    const most = Math.floor((room / bytesFor(unit)) * unit.length);
    return textOf(unit, Math.min(typeof maxLength === 'number' ? maxLength : most, most));
  });
}

const deep = (levels: number, open: string, close: string): unknown =>
  JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);

/** Returns JSON values of all types, which JSON fields may contain and other fields must refuse. */
function anyJson(): Value[] {
  cachedAnyJson ??= valuesOfAnyKind(ROOM).map(valueFrom);
  return cachedAnyJson;
}
let cachedAnyJson: Value[] | undefined;

function valuesOfAnyKind(room: number): unknown[] {
  return [
    Array.from({ length: Math.floor(room / 3) }, () => ({})),
    Array.from({ length: Math.floor(room / 2) }, () => 0),
    Object.fromEntries(Array.from({ length: Math.floor(room / 12) }, (_, n) => [`k${n}`, n % 10])),
    { [repeated('a.', room)]: '{{input.' },
    Array.from({ length: Math.floor(room / 400) }, () => deep(60, '[{"a":', '}]')),
    Array.from({ length: Math.floor(room / 20) }, () => '{{input.a ?? 1}}'),
  ];
}

/** Returns the extremes of a field. */
function values(schema: Schema): Value[] {
  const alternatives = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat().filter(isSchema);
  if (alternatives.length > 0) return alternatives.flatMap(each => values(each));
  switch (schema.type) {
    case 'string':
      return texts(schema, ROOM);
    case 'array': {
      const items = isSchema(schema.items) ? schema.items : {};
      const most = typeof schema.maxItems === 'number' ? schema.maxItems : ROOM / 8;
      const [item] = items.type === 'string' ? texts(items, Math.min(ROOM / Math.max(1, most), 300)) : [];
      const json = item?.toString() ?? '{}';
      const length = Math.floor(Math.min(most, ROOM / (Buffer.byteLength(json) + 1)));
      return [Buffer.from(`[${Array(length).fill(json).join(',')}]`), ...anyJson().slice(0, 1)];
    }
    case 'integer':
    case 'number':
      return [valueFrom(1e308)];
    case 'boolean':
    case 'null':
      return [];
    default:
      return anyJson();
  }
}

/**
 * A body in pieces that are shared by several bodies: with copies, the test spent half of its time on garbage
 * collection.
 */
export type Pieces = readonly Buffer[];
export const lengthOf = (body: Pieces): number => body.reduce((sum, piece) => sum + piece.byteLength, 0);

/** Returns the JSON of an object with the fields of all given objects; `other` has at least one field. */
const mergeFields = (one: object, ...other: Value[]): Pieces => {
  const fields = JSON.stringify(one);
  return [Buffer.from(fields === '{}' ? '{' : `${fields.slice(0, -1)},`), ...other];
};

/** Selects some of the inputs of an operation's field or body. */
export type Select = <T>(inputs: readonly T[]) => readonly T[];
export const ALL: Select = inputs => inputs;

/**
 * Returns a selector of a third of the inputs, at least one. It is a different third each time, so that the several
 * hundred similar fields together get all inputs.
 */
export function thirds(): Select {
  let turn = 0;
  return inputs => {
    turn += 1;
    const chosen = inputs.filter((_, place) => (place + turn) % 3 === 0);
    return chosen.length > 0 ? chosen : inputs.slice(turn % Math.max(1, inputs.length)).slice(0, 1);
  };
}

/** Generates bodies of an operation: the valid fields, with one of them at an extreme. */
export function* extremeBodies(
  entry: RegisteredOperation,
  valid: Schema,
  select: Select,
): Generator<[field: string, body: Pieces]> {
  for (const [field, body] of bodies(entry, valid, select)) if (lengthOf(body) <= MAX_BODY_BYTES) yield [field, body];
}

function* bodies(entry: RegisteredOperation, valid: Schema, select: Select): Generator<[string, Pieces]> {
  const properties = isSchema(entry.inputSchema.properties) ? entry.inputSchema.properties : {};
  const names = Object.keys(properties).filter(name => !entry.pathParameters.includes(name));
  for (const name of names) {
    const schema = properties[name];
    const { [name]: _, ...others } = valid;
    const key = Buffer.from(`${JSON.stringify(name)}:`);
    for (const value of select(values(isSchema(schema) ? schema : {})))
      yield [name, mergeFields(others, key, value, END)];
  }
  const [list = valueFrom([]), , object = valueFrom({})] = anyJson();
  yield* select<[string, Pieces]>([
    ['unknown fields', mergeFields(valid, object.subarray(1))],
    ['a body that is a list', [list]],
    ['a body without end', [ENDLESS]],
  ]);
}
const END = Buffer.from('}');
const ENDLESS = Buffer.from('['.repeat(ROOM));

/** Returns queries of an operation, with each parameter at its maximum length, and repeated as often as possible. */
export function extremeQueries(entry: RegisteredOperation): [string, string][] {
  const properties = isSchema(entry.inputSchema.properties) ? entry.inputSchema.properties : {};
  const names = Object.keys(properties).filter(name => !entry.pathParameters.includes(name));
  return names.flatMap((name): [string, string][] => [
    [name, new URLSearchParams({ [name]: repeated('a,', MAX_QUERY_CHARACTERS / 3) }).toString()],
    [name, repeated(`${name}=1&`, MAX_QUERY_CHARACTERS)],
  ]);
}

const step = (id: string, type: string, fields: object) => ({ id, type, ...fields });
const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
/** Returns the maximum number of steps, which together have the maximum size of a graph. */
const steps = (type: string, fields: (n: number) => object) => many(2_000, n => step(`s${n}`, type, fields(n)));

/** Returns nested loops, each the only step of its outer loop. */
function nestedLoops(levels: number): object {
  const inner = levels > 1 ? nestedLoops(levels - 1) : step('a', 'condition', { expression: 'item' });
  return step(`l${levels}`, 'for_each', { items: '{{item}}', steps: [inner] });
}

/** Graphs whose validation takes as much time as their size permits. */
export const EXTREME_GRAPHS: [string, unknown[]][] = [
  ['an unfinished template in a script', [step('a', 'lua_script', { script: repeated('{{input.a ?? [', ROOM - 200) })]],
  [
    'unfinished templates in scripts',
    many(3, n => step(`s${n}`, 'lua_script', { script: `return [[${repeated('{{input.a ?? "', 250_000)}]]` })),
  ],
  ['references to no step', steps('lua_script', () => ({ script: repeated('{{steps.q.result}} ', 460) }))],
  [
    'dependencies on no step',
    [step('a', 'condition', { expression: 'true', depends_on: many(150_000, n => `x${n % 100}`) })],
  ],
  [
    'the densest graph',
    many(1_000, n =>
      step(`s${n}`, 'condition', { expression: 'true', depends_on: many(Math.min(n, 140), k => `s${n - k - 1}`) }),
    ),
  ],
  [
    'long expressions',
    many(240, n => step(`s${n}`, 'condition', { expression: `${repeated('input.a+', 4_000)}${n}` })),
  ],
  [
    'nested expressions',
    many(250, n => step(`s${n}`, 'condition', { expression: `${repeated('[1].map(x,', 600)}${n}` })),
  ],
  ['forms of patterns', steps('human_task', n => ({ form: { properties: { p: { pattern: `a{990}b{990}${n}` } } } }))],
  [
    'forms of enums',
    many(16, n => step(`s${n}`, 'human_task', { form: { properties: { p: { enum: many(7_000, k => `n${k}`) } } } })),
  ],
  [
    'forms of Unicode classes',
    many(500, n =>
      step(`s${n}`, 'human_task', { form: { properties: { p: { pattern: `(?i)${repeated('\\pL', 300)}${n}` } } } }),
    ),
  ],
  [
    'a long name of a field',
    [step('a', 'mcp_call', { tool_args: { [repeated('a.', 900_000)]: ['{{steps.', '{{input.'] } })],
  ],
  ['a long URL', steps('http_request', n => ({ url: `https://a.test/${repeated('{{input.a}}/', 400)}${n}` }))],
  [
    'an unfinished template in a URL',
    [step('a', 'http_request', { url: repeated('https://{{input.a ?? [', ROOM - 200) })],
  ],
  [
    'parameters and headers of a request',
    many(8, n =>
      step(`s${n}`, 'http_request', {
        url: 'https://a.test',
        query: Object.fromEntries(many(3_000, k => [`q${k}`, '{{input.a}}'])),
        headers: Object.fromEntries(many(3_000, k => [`h${k}`, 'v'])),
      }),
    ),
  ],
  [
    'a body of templates',
    [
      step('a', 'http_request', {
        url: 'https://a.test',
        method: 'POST',
        body: many(40_000, () => '{{steps.q.result}}'),
      }),
    ],
  ],
  [
    'parts and pages of a request',
    many(4, n =>
      step(`s${n}`, 'http_request', {
        url: 'https://a.test',
        method: 'POST',
        multipart: many(2_500, k => ({ name: `p${k}`, value: '{{input.a}}' })),
        pagination: { next: repeated('{{response.body.a ?? [', 2_000), items: repeated('a.', 10_000) },
        expect: many(5_000, () => '2xx'),
      }),
    ),
  ],
  [
    'loops in loops',
    many(10, n =>
      step(`s${n}`, 'for_each', {
        items: '{{input.a}}',
        concurrency: 100,
        steps: many(9, k =>
          step(`s${n}_${k}`, 'for_each', {
            items: `${repeated('input.a.filter(x, x > 1) + ', 4_000)}input.a`,
            steps: many(20, i => step(`s${n}_${k}_${i}`, 'human_task', { instructions: '{{item}} {{index}}' })),
          }),
        ),
      }),
    ),
  ],
  ['loops nested too deep', [nestedLoops(28)]],
  [
    'templates in calls',
    steps('call_workflow', n => ({ workflow_id: '{{input.id}}', input: { a: repeated('{{input.a ?? [', 380), n } })),
  ],
  ['templates in waits', steps('wait', () => ({ until: repeated('{{input.a ?? [', 480) }))],
  ['unknown fields', [step('a', 'condition', Object.fromEntries(many(80_000, n => [`f${n}`, 1])))]],
  ['long ids', many(8, () => step(repeated('x', 100_000), 'condition', {}))],
  ['branches to no step', [step('a', 'condition', { expression: 'true', then: many(150_000, n => `x${n % 100}`) })]],
  ['syntax errors', steps('lua_script', n => ({ script: `${repeated('(', 400)}${n}` }))],
];

/** Workflows with hundreds of thousands of invalid parts, or with one error beside as many valid parts. */
export const EXTREME_WORKFLOWS: [string, () => object][] = [
  ['steps without fields', () => ({ graph: { steps: many(ROOM / 3, () => ({})) } })],
  ['numbers instead of steps', () => ({ graph: { steps: many(ROOM / 2, () => 0) } })],
  ['objects as its output', () => ({ graph: { output: many(ROOM / 3, () => ({})) } })],
  ['lists as its output', () => ({ graph: { output: many(ROOM / 130, () => deep(30, '[[', ']]')) } })],
  [
    'numbers instead of payloads',
    () => ({ run_setup: { trigger_steps: Object.fromEntries(many(ROOM / 12, n => [`k${n}`, 1])) } }),
  ],
];

/** Documents for the import. */
export const EXTREME_DOCUMENTS: [string, string][] = [
  ['flow maps', `a: [${repeated('{},', 990_000)}`],
  ['quotation marks', repeated('"', 250_000)],
  ['braces', repeated('{', ROOM)],
  ['sequences', repeated('- ', ROOM)],
  ['keys', many(60_000, n => `k${n}: 1`).join('\n')],
  ['anchors', repeated('- &a x\n', ROOM - 150_000)],
];

/** The limit of a webhook, 256 KiB, minus the overhead of repeated short fields. */
const DELIVERY_ROOM = 200_000;
/** Bodies of deliveries, each of which starts a run if it is signed. */
export const EXTREME_DELIVERIES: string[] = [
  ...valuesOfAnyKind(DELIVERY_ROOM),
  Object.fromEntries(many(8, n => [`text${n}`, repeated('{{input.a ?? [', DELIVERY_ROOM / 10)])),
].map(value => JSON.stringify(value));

/** Messages that a client may send on a stream, although the server expects none. */
export const EXTREME_FRAMES: [string, (socket: WebSocket) => void][] = [
  ['a text of 1 MiB', socket => socket.send(repeated('{"a":', MAX_BODY_BYTES))],
  ['bytes, 1 MiB of them', socket => socket.send(Buffer.alloc(MAX_BODY_BYTES, 0xff))],
  ['20,000 short texts', socket => many(20_000, n => socket.send(`{"n":${n}}`))],
  ['20,000 pings', socket => many(20_000, () => socket.ping('x'.repeat(125)))],
  ['20,000 pongs', socket => many(20_000, () => socket.pong())],
  [
    'a text in 20,000 pieces',
    socket => {
      many(20_000, () => socket.send('a', { fin: false }));
      socket.send('a', { fin: true });
    },
  ],
];
