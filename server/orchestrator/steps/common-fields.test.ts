import { expect, test } from 'vitest';
import { z } from 'zod';
import { instanceOf } from '../core/graph.ts';
import { type GraphStep, templateOf } from '../core/index.ts';
import { fieldReader, InvalidStep } from './common-fields.ts';

const read = fieldReader(z.object({ script: z.string() }));
const published: GraphStep = { id: 'a', type: 'x', script: 'return 1' };

test('the fields of a step are parsed once, also for the steps that a loop adds', () => {
  const fields = read(published);
  expect(fields).toEqual({ script: 'return 1' });
  expect(read(published)).toBe(fields);
  const added = [0, 1].map(index => instanceOf(published, { id: `each.${index}.a`, depends_on: [] }));
  for (const step of added) {
    expect(templateOf(step)).toBe(published);
    expect(read(step)).toBe(fields);
  }
  expect(read({ ...published })).not.toBe(fields);
});

test('invalid fields are refused each time', () => {
  const step: GraphStep = { id: 'b', type: 'x' };
  for (const _ of [1, 2]) expect(() => read(step)).toThrow(InvalidStep);
});
