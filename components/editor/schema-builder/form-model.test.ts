import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '@/server/platform/json.ts';
import { checkForm } from '../../../server/orchestrator/steps/form.ts';
import { formFields } from '../../forms/form-schema.ts';
import {
  type FieldKind,
  type FieldView,
  limitsOf,
  newField,
  schemaOf,
  viewOf,
  withChoices,
  withKind,
} from './field-view.ts';
import {
  addField,
  changeField,
  duplicateField,
  type FormModel,
  formValue,
  freeName,
  moveField,
  nameFor,
  nameProblem,
  readForm,
  removeField,
  rowsOf,
  writeForm,
} from './form-model.ts';

const KINDS: readonly FieldKind[] = [
  'text',
  'long',
  'number',
  'integer',
  'yes_no',
  'choice',
  'choices',
  'date',
  'datetime',
  'time',
  'email',
  'link',
];
const kind = fc.constantFrom(...KINDS);

/** Every field that the builder can create. */
const view: fc.Arbitrary<FieldView> = fc
  .record({
    kind,
    label: fc.string({ maxLength: 8 }),
    help: fc.string({ maxLength: 8 }),
    min: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
    max: fc.option(fc.oneof(fc.nat({ max: 9 }), fc.constant(2n ** 60n)), { nil: undefined }),
    choices: fc.uniqueArray(fc.record({ value: fc.string(), label: fc.option(fc.string(), { nil: undefined }) }), {
      selector: ({ value }) => value,
      minLength: 1,
      maxLength: 3,
    }),
    isPreset: fc.boolean(),
  })
  .map(({ kind, label, help, min, max, choices, isPreset }) => {
    const field = { ...newField(kind, label), help };
    if (limitsOf(kind) !== null) {
      if (min !== undefined) field.min = min;
      if (max !== undefined) field.max = max;
    }
    if (kind === 'choice' || kind === 'choices')
      field.choices = choices.map(({ value, label }) => (label === undefined ? { value } : { value, label }));
    return isPreset ? { ...field, default: presetOf(field) } : field;
  });

function presetOf({ kind, choices = [] }: FieldView): Json {
  const first = choices[0]?.value ?? '';
  if (kind === 'choice') return first;
  if (kind === 'choices') return [first];
  if (kind === 'yes_no') return false;
  return kind === 'number' || kind === 'integer' ? 3 : 'x';
}

const name = fc.oneof(fc.constantFrom('a', 'b', 'a b', '__proto__', 'constructor', '7'), fc.string({ maxLength: 4 }));
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;

/** Field schemas that the builder supports, near misses of them, and arbitrary JSON. */
const property: fc.Arbitrary<Json> = fc.oneof(
  view.map(schemaOf),
  fc
    .tuple(
      view.map(schemaOf),
      fc.constantFrom(
        'pattern',
        'multipleOf',
        'nullable',
        'type',
        'enum',
        'oneOf',
        'items',
        'format',
        'title',
        'default',
      ),
      json,
    )
    .map(([schema, keyword, value]) => ({ ...schema, [keyword]: value })),
  json,
);
const form: fc.Arbitrary<Json> = fc.oneof(
  fc
    .record(
      {
        type: fc.constantFrom('object', 'array'),
        properties: fc.oneof(
          { weight: 5, arbitrary: fc.dictionary(name, property, { maxKeys: 4 }) },
          { weight: 1, arbitrary: json },
        ),
        required: fc.oneof({ weight: 5, arbitrary: fc.array(name, { maxLength: 3 }) }, { weight: 1, arbitrary: json }),
        additionalProperties: fc.boolean(),
        allOf: json,
        description: json,
        'x-order': json,
      },
      { requiredKeys: [] },
    )
    .map(each => each as JsonObject),
  json,
);

describe('the form builder', () => {
  test('writes back every schema that it reads, unchanged', () => {
    fc.assert(
      fc.property(form, schema => {
        const read = readForm(schema);
        if (read === null) return;
        expect(writeForm(read)).toEqual(schema);
        // Fields that the builder shows keep their meaning when they are written; other fields stay unchanged.
        for (const field of read.fields) {
          const shown = viewOf(field.schema);
          if (shown !== null) expect(schemaOf(shown)).toEqual(field.schema);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('reads back every form that it writes', () => {
    fc.assert(
      fc.property(view, built => {
        expect(viewOf(schemaOf(built))).toEqual(built);
      }),
      { numRuns: 2_000 },
    );
    const built = fc.uniqueArray(fc.record({ name, required: fc.boolean(), schema: view.map(schemaOf) }), {
      selector: each => each.name,
      maxLength: 4,
    });
    fc.assert(
      fc.property(built, fields => {
        const written = writeForm({ fields, root: { type: 'object' } });
        // JavaScript orders integer keys before all other keys.
        const order = Object.keys(Object.fromEntries(fields.map(each => [each.name, 0])));
        const sorted = order.map(each => fields.find(field => field.name === each));
        expect(readForm(written)?.fields).toEqual(sorted);
      }),
    );
  });

  test('creates fields that the service accepts and the inbox shows', () => {
    const expected: Record<FieldKind, string> = {
      text: 'text',
      long: 'textarea',
      number: 'number',
      integer: 'number',
      yes_no: 'boolean',
      choice: 'choice',
      choices: 'choices',
      date: 'text',
      datetime: 'text',
      time: 'text',
      email: 'text',
      link: 'text',
    };
    const fields = KINDS.map(each => ({ name: each, required: true, schema: schemaOf(newField(each, 'L')) }));
    const schema = writeForm({ fields, root: { type: 'object' } });
    expect(checkForm(schema)).toEqual([]);
    expect(formFields(schema).map(({ key, kind }) => [key, kind])).toEqual(Object.entries(expected));
  });

  test('refuses a schema that says more than a list of fields', () => {
    const properties = { a: { type: 'string' } };
    const richer: readonly JsonObject[] = [
      { allOf: [] },
      { $ref: '#/$defs/a' },
      { if: {} },
      { minProperties: 1 },
      { type: ['object', 'null'] },
    ];
    for (const more of richer) expect(readForm({ type: 'object', properties, ...more })).toBeNull();
    for (const schema of [true, null, 'text', [], { properties: [] }, { required: 'a' }])
      expect(readForm(schema as Json)).toBeNull();
    expect(readForm({ properties, additionalProperties: false, 'x-a': 1, $defs: {} })?.fields).toHaveLength(1);
  });

  test.each<[string, Json]>([
    ['a pattern', { type: 'string', pattern: '^a' }],
    ['an unknown format', { type: 'string', format: 'ipv4' }],
    ['a list of types', { type: ['string', 'null'] }],
    ['null as an answer', { type: 'string', nullable: true }],
    ['choices that are not texts', { enum: [1, 2] }],
    ['choices from a template', { type: 'string', enum: '{{steps.a.result}}' }],
    ['alternatives', { oneOf: [{ type: 'string' }, { type: 'number' }] }],
    ['an object', { type: 'object', properties: {} }],
    ['a list of texts', { type: 'array', items: { type: 'string' } }],
    ['a limit of another kind', { type: 'string', minimum: 1 }],
    ['a default of another kind', { type: 'number', default: '{{input.a}}' }],
    ['a boolean schema', true],
  ])('leaves a field with %s to its JSON', (_, schema) => {
    expect(viewOf(schema)).toBeNull();
  });
});

describe('a change of a form', () => {
  const schema: JsonObject = {
    title: 'Order',
    required: ['gone', 'b', 'a'],
    properties: { a: { type: 'string' }, b: { type: 'string', pattern: 'x' } },
    type: 'object',
  };
  const read = readForm(schema) as FormModel;

  test('keeps everything else unchanged', () => {
    const [, custom] = read.fields;
    const changed = changeField(read, 0, { name: 'c', schema: { type: 'number' } });
    expect(writeForm(changed)).toEqual({
      title: 'Order',
      required: ['gone', 'b', 'c'],
      properties: { c: { type: 'number' }, b: custom?.schema },
      type: 'object',
    });
    expect(writeForm(removeField(read, 1))).toEqual({
      ...schema,
      required: ['gone', 'a'],
      properties: { a: { type: 'string' } },
    });
    expect(Object.keys(writeForm(moveField(read, 0, 1)).properties as JsonObject)).toEqual(['b', 'a']);
    expect(moveField(read, 0, 2)).toBe(read);
    expect(duplicateField(read, 1).fields.map(each => each.name)).toEqual(['a', 'b', 'b_2']);
  });

  test('creates a schema if there is none, and removes an empty schema', () => {
    const none = readForm(undefined) as FormModel;
    expect(formValue(none)).toBeUndefined();
    const one = addField(none, 0, { name: 'a', required: true, schema: { type: 'string' } });
    const expected = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    expect(formValue(one)).toEqual(expected);
    expect(formValue(readForm({}) as FormModel)).toBeUndefined();
    expect(writeForm({ ...one, root: {} })).toEqual(expected);
    expect(formValue(removeField(readForm(expected) as FormModel, 0))).toBeUndefined();
    const closed = { type: 'object', additionalProperties: false };
    expect(formValue(readForm(closed) as FormModel)).toEqual(closed);
  });

  test('names fields after their labels', () => {
    expect(nameFor('Order total (€)')).toBe('order_total');
    expect(nameFor('Größe in cm')).toBe('grosse_in_cm');
    expect(nameFor('2nd line')).toBe('_2nd_line');
    expect(nameFor('日本')).toBe('field');
    expect(freeName('a', ['a', 'a_2'])).toBe('a_3');
    fc.assert(
      fc.property(fc.string(), label => {
        expect(nameProblem(nameFor(label), [])).toBeNull();
      }),
    );
    expect(nameProblem('', [])).toBe('Enter a name.');
    expect(nameProblem('a', ['a'])).toBe('Another field has this name.');
    expect(nameProblem('a b', [])).toBe('Use letters, digits and _, and begin with a letter.');
  });

  test('keeps the keys of rows', () => {
    let last = 0;
    const next = () => ++last;
    const first = rowsOf([], ['a', 'b'], next);
    const renamed = rowsOf(first, ['a', 'c'], next);
    expect(renamed.map(({ key }) => key)).toEqual([1, 2]);
    expect(rowsOf(renamed, ['c', 'a'], next).map(({ key }) => key)).toEqual([2, 1]);
    expect(rowsOf(renamed, ['a', 'x', 'c'], next).map(({ key }) => key)).toEqual([1, 3, 2]);
    expect(rowsOf(first, ['a', 'b'], next)).toBe(first);
  });
});

describe('a changed field', () => {
  test('keeps the settings that its new kind also has', () => {
    const text: FieldView = { ...newField('text', 'Why'), help: 'h', min: 1, default: 'x' };
    expect(withKind(text, 'long')).toEqual({ ...text, kind: 'long' });
    expect(withKind(text, 'number')).toEqual({ kind: 'number', label: 'Why', help: 'h' });
    const choice = withKind({ ...text, default: 'Option 1' }, 'choice');
    expect(choice.default).toBe('Option 1');
    expect(withKind(choice, 'choices').choices).toBe(choice.choices);
  });

  test('keeps a default that is still among its choices', () => {
    const choices: FieldView = { ...newField('choices', ''), default: ['Option 1', 'Option 2'] };
    expect(withChoices(choices, [{ value: 'Option 2' }]).default).toEqual(['Option 2']);
    expect(withChoices(choices, [{ value: 'x' }])).not.toHaveProperty('default');
  });
});
