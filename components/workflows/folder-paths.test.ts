import { expect, test } from 'vitest';
import { foldersIn, foldersTo, pathFrom, pathLabel, tagChange, tagsOf } from './folder-paths.ts';
import { readTags, workflowListInput } from './list-input.ts';

const folders = ['a', 'a/b', 'a/b/c', 'ab', 'z'].map(path => ({ path }));

test('folders are shown level by level', () => {
  expect(foldersIn('', folders).map(({ path }) => path)).toEqual(['a', 'ab', 'z']);
  expect(foldersIn('a', folders).map(({ path }) => path)).toEqual(['a/b']);
  expect(foldersIn('z', folders)).toEqual([]);
  expect(foldersTo('a/b')).toEqual([
    { path: 'a', name: 'a' },
    { path: 'a/b', name: 'b' },
  ]);
  expect(foldersTo('')).toEqual([]);
});

test('a row shows its folder relative to the current folder', () => {
  expect(['a', 'a/b', 'ab'].map(path => pathFrom('a', path))).toEqual(['', 'b', 'ab']);
  expect(pathFrom('', 'a/b')).toBe('a/b');
  expect(pathLabel('a/b')).toBe('a / b');
});

test('tags are separated by commas', () => {
  expect(tagsOf(' Prod, eu ,,prod,  a   b ')).toEqual(['a b', 'eu', 'prod']);
  expect(tagChange(['a', 'b'], ['b', 'c'])).toEqual({ add: ['c'], remove: ['a'] });
});

test('folder and tags are in the URL', () => {
  const get = (key: string) => new URLSearchParams('folder=a/b&tags=eu,,prod,eu').get(key) ?? '';
  expect(readTags(get)).toEqual(['eu', 'prod']);
  expect(workflowListInput(get)).toEqual({ limit: 50, graphs: false, folder: 'a/b', tags: ['eu', 'prod'] });
});
