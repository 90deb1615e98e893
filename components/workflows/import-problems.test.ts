import { expect, test } from 'vitest';
import { ImportedDocument } from '../../server/domains/workflows/schemas.ts';
import { readError } from '../ui/errors.ts';
import { inImportWords } from './import-problems.ts';

/** Returns the dialog's text for a document that the server refuses. */
function shownFor(document: unknown): string[] {
  const { error } = ImportedDocument.safeParse(document);
  const details = error?.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })) ?? [];
  const refused = Object.assign(new Error('This is not a workflow document.'), { data: { status: 422, details } });
  return readError(inImportWords(refused)).details.map(({ path, message }) => `${path}${message}`);
}

const step = { id: 'a', type: 'lua_script' };
const valid = { name: 'x', graph: { steps: [step] } };

test.each<[string, unknown, string]>([
  ['nothing', {}, 'The name is missing. The graph is missing.'],
  ['a list', [], 'The document must be an object.'],
  ['another version', { ...valid, baton: 2 }, 'The version of the format must be 1.'],
  ['another kind', { ...valid, kind: 'agent' }, 'The kind of document must be workflow.'],
  ['an empty name', { ...valid, name: '' }, 'The name must not be blank.'],
  ['a long name', { ...valid, name: 'x'.repeat(1_000) }, 'The name has more than 200 characters.'],
  ['a name that is a number', { ...valid, name: 7 }, 'The name must be text.'],
  ['no steps', { ...valid, graph: {} }, 'The list of steps is missing.'],
  ['steps that are an object', { ...valid, graph: { steps: {} } }, 'The list of steps must be a list.'],
  ['unknown fields', { ...valid, id: 'x', secret: 1 }, 'The document has fields that Baton does not know: id, secret.'],
  ['a step without a type', { ...valid, graph: { steps: [step, { id: 'b' }] } }, 'Step 2, “type” is missing.'],
  ['a step that is text', { ...valid, graph: { steps: ['a'] } }, 'Step 1 must be an object.'],
])('%s is refused in the words of the console', (_what, document, words) => {
  expect(shownFor(document).join(' ')).toBe(words);
});

test('the messages of our own rules and of other errors stay the same', () => {
  const refused = (status: number) =>
    Object.assign(new Error('Refused.'), {
      data: { status, details: [{ path: 'document', message: 'the key "a" is given twice, on line 3 and on line 4' }] },
    });
  expect(readError(inImportWords(refused(422))).details[0]?.message).toBe(
    'The key "a" is given twice, on line 3 and on line 4.',
  );
  const other = refused(500);
  expect(inImportWords(other)).toBe(other);
  expect(inImportWords(null)).toBeNull();
});
