import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Wordings that the console no longer uses, each with its replacement. */
const REPLACED: readonly (readonly [old: RegExp, now: string])[] = [
  [/the graph has no steps/i, 'Add the first step'],
  [/workflow_id is required/i, 'Choose a workflow'],
  [/add it to depends_on/i, 'Connect it to …'],
  [wholeWord('On lost'), 'If the outcome is unknown'],
  [wholeWord('Gated'), 'Only when started by name'],
  [wholeWord('Overridable'), 'Can be changed at start'],
  [wholeWord('Look'), 'View'],
  [/wait for people/, '1 waiting for a person, 3 waiting for people'],
  [/Seen by/, 'Visible to'],
  [/what was true earlier/, 'Include past facts'],
  [/a person may use a day/, 'Daily credits per person'],
  [/\b(?:sec|min|hr|wk|mo|yr)\.(?= ago|['`])/, '22 min ago'],
  [/[\d}] %(?=[`'"<]| [a-z]|$)/m, '95%'],
  [/\b(?:some|any|every)body\b|\bnobody (?!=)/i, 'someone, anyone, everyone, no one'],
];

/** Matches a word that is a whole text in quotes or in JSX. */
function wholeWord(word: string): RegExp {
  return new RegExp(`(?:['"\`>]|^\\s*)${word}(?:['"\`<]|\\s*$)`, 'm');
}

/** Returns a source without its comments, which are not shown to users. */
const withoutComments = (source: string): string =>
  source.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(?<!:)\/\/.*$/gm, '');

const sources = globSync(['components/**/*.{ts,tsx}', 'app/**/*.{ts,tsx}'])
  .filter(path => !path.includes('.test.'))
  .map(path => ({ path, text: withoutComments(readFileSync(path, 'utf8')) }));

test('the scan finds sources', () => expect(sources.length).toBeGreaterThan(400));

test.each(REPLACED)('the console does not say %s, but “%s”', old => {
  expect(sources.filter(({ text }) => old.test(text)).map(({ path }) => path)).toEqual([]);
});
