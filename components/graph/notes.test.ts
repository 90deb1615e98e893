import { describe, expect, test } from 'vitest';
import { drawnNotes, MAX_NOTE, MIN_NOTE, noteNodeId, noteOfNode } from './notes.ts';

const note = (id: string, fields: object = {}) => ({ id, text: 'Why', position: { x: 0, y: 0 }, ...fields });

test('distinguishes the nodes of notes from the nodes of steps', () => {
  expect(noteOfNode(noteNodeId('n'))).toBe('n');
  expect(noteOfNode('note')).toBeNull();
});

describe('drawing', () => {
  test('uses the default size and color for a note without them', () => {
    expect(drawnNotes({ notes: [note('n')] })).toEqual([
      { id: 'n', text: 'Why', color: 'yellow', position: { x: 0, y: 0 }, width: 240, height: 120 },
    ]);
  });

  test.each([
    [MIN_NOTE.width - 1, MIN_NOTE.width],
    [MIN_NOTE.width, MIN_NOTE.width],
    [MAX_NOTE.width, MAX_NOTE.width],
    [MAX_NOTE.width + 1, MAX_NOTE.width],
  ])('draws a width of %i as %i', (width, drawn) => {
    expect(drawnNotes({ notes: [note('n', { width })] })).toMatchObject([{ width: drawn }]);
  });

  test('leaves out invalid notes and duplicate ids', () => {
    const odd = [
      null,
      1,
      {},
      { id: 'x', text: 1, position: { x: 0, y: 0 } },
      { id: 'x', text: '', position: { x: 'l' } },
    ];
    const notes = [...odd, note('n', { text: 'first' }), note('n', { text: 'second' })];
    expect(drawnNotes({ notes })).toMatchObject([{ id: 'n', text: 'second' }]);
    for (const none of ['no', null, undefined]) expect(drawnNotes({ notes: none })).toEqual([]);
  });
});
