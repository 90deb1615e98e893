import type { Json } from '../platform/json.ts';

const object = { type: 'object' };
const odd = { name: 'odd', inputSchema: object };

/** Returns a schema that allows a single argument, which is required. */
const objectWith = (name: string): Json => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
});

/** Entries of a list of tools, most of which violate the protocol. */
export const ODD_TOOLS: Record<string, Json> & Record<'plain', Json> = {
  plain: odd,
  'no input schema': { name: 'odd' },
  'null input schema': { name: 'odd', inputSchema: null },
  'an empty input schema': { name: 'odd', inputSchema: {} },
  'the input schema true': { name: 'odd', inputSchema: true },
  'the input schema false': { name: 'odd', inputSchema: false },
  'a list as input schema': { name: 'odd', inputSchema: [] },
  'text as input schema': { name: 'odd', inputSchema: '{"type":"object"}' },
  'an input schema of text': { name: 'odd', inputSchema: { type: 'string' } },
  'an input schema of an object or null': { name: 'odd', inputSchema: { type: ['object', 'null'] } },
  'a choice as input schema': { name: 'odd', inputSchema: { oneOf: [objectWith('id'), objectWith('name')] } },
  'a boolean subschema': { name: 'odd', inputSchema: { type: 'object', properties: { a: true, b: false } } },
  'properties that are a list': { name: 'odd', inputSchema: { type: 'object', properties: [], required: [] } },
  'null keywords': { name: 'odd', inputSchema: { type: 'object', properties: null, required: null } },
  'a null title': { ...odd, title: null },
  'a number as title': { ...odd, title: 7 },
  'a null description': { ...odd, description: null, icons: null, _meta: null, execution: null },
  'a list as description': { ...odd, description: ['a'] },
  'a null output schema': { ...odd, outputSchema: null },
  'a list as output schema': { ...odd, outputSchema: [object] },
  'the output schema true': { ...odd, outputSchema: true },
  'an output schema of a list': { ...odd, outputSchema: { type: 'array', items: true } },
  'an output schema that is nonsense': { ...odd, outputSchema: { type: 7, properties: 'none', $ref: [] } },
  'null annotations': { ...odd, annotations: null },
  'a list as annotations': { ...odd, annotations: [true] },
  'null hints': { ...odd, annotations: { title: null, readOnlyHint: null, destructiveHint: null } },
  'hints that are text': { ...odd, annotations: { readOnlyHint: 'true', destructiveHint: 'yes' } },
  'unknown members': { ...odd, annotations: { cost: 5 }, visibility: ['model'], inputExamples: null },
  'no name': { inputSchema: object },
  'a null name': { ...odd, name: null },
  'a number as name': { ...odd, name: 5 },
  'an empty name': { ...odd, name: '' },
  'a name with spaces': { ...odd, name: 'odd tool' },
  'the name of another': { ...odd, name: 'good', description: 'Another.' },
  null: null,
  text: 'odd',
  list: [odd],
};

const text = (value: Json) => ({ type: 'text', text: value });

/** Results of a tool that has run. */
export const ODD_RESULTS: Record<string, Json> & Record<'plain', Json> = {
  plain: { content: [text('done')] },
  'no content': {},
  'null content': { content: null, isError: null, _meta: null },
  'text as content': { content: 'done' },
  'a block as content': { content: text('{"a":1}') },
  'odd blocks': { content: [null, 'done', 7, [1], { type: 'hologram' }, { kind: 'none' }, text(null), text({ a: 1 })] },
  'a number in text': { content: [text('1e5')] },
  'a list in text': { content: [text('[1,2]')] },
  'structured content': { content: [text('{"a":1}')], structuredContent: { a: 1 } },
  'structured content and text': { content: [text('One.')], structuredContent: { a: 1 } },
  'structured content alone': { structuredContent: { a: 1 } },
  'null structured content': { content: [text('done')], structuredContent: null },
  'a list as structured content': { content: [], structuredContent: [1, 2] },
  'a list as structured content and text': { content: [text('Two.')], structuredContent: [1, 2] },
  'a text as structured content': { content: [], structuredContent: 'done' },
  'the result of 2024': { toolResult: { a: 1 } },
  'an object of its own': { celsius: 5, _meta: {}, resultType: 'complete' },
  null: null,
  text: 'done',
  list: [1, 2],
  false: false,
  'text that cannot be stored': { structuredContent: { 'a\0': 'b\0' } },
};
