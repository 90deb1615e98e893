import { z } from 'zod';
import { PlainText } from '../../../operation/wire.ts';

/** The maximum number of levels of folders. */
export const MAX_FOLDER_DEPTH = 5;
/** The maximum number of characters of the name of one folder. */
export const MAX_FOLDER_NAME = 60;
/** The maximum number of characters of a tag. */
export const MAX_TAG = 40;
/** The maximum number of tags of a workflow. */
export const MAX_TAGS = 20;

/** Matches characters that are invisible or change the display of others, because two names with them could look the same. */
const UNSEEN = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

/** Returns a name in Unicode NFC, with single spaces between its words. */
const normalizeName = (text: string): string => text.normalize('NFC').replace(/\s+/gu, ' ').trim();

/** Returns the problem of a normalized path of a folder; null for none. */
export function folderProblem(path: string): string | null {
  if (path === '') return null;
  const names = path.split('/');
  if (names.length > MAX_FOLDER_DEPTH) return `must be at most ${MAX_FOLDER_DEPTH} folders deep`;
  if (names.includes('')) return 'must not have a folder without a name';
  if (names.some(name => name.length > MAX_FOLDER_NAME))
    return `must have names of at most ${MAX_FOLDER_NAME} characters`;
  return UNSEEN.test(path) ? 'must not have control characters or other unseen ones' : null;
}

/** The path of a folder, such as `Finance/Invoices`. Empty: the workflow is in no folder. */
export const FolderPath = PlainText(1_000)
  .transform((text, context) => {
    const path = text.split('/').map(normalizeName).join('/');
    const problem = folderProblem(path);
    if (problem === null) return path;
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  })
  .meta({ description: 'A path such as `Finance/Invoices`, up to 5 folders deep; empty: in no folder' });

/** A tag in lower case, so that no two tags differ only in case. It has no comma, which separates tags in forms. */
const Tag = PlainText(200).transform((text, context) => {
  const tag = normalizeName(text).toLowerCase();
  const problem =
    tag === ''
      ? 'must not be blank'
      : tag.length > MAX_TAG
        ? `must have at most ${MAX_TAG} characters`
        : tag.includes(',') || UNSEEN.test(tag)
          ? 'must not have commas, control characters or other unseen ones'
          : null;
  if (problem === null) return tag;
  context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
});

/** Unique tags in alphabetical order. */
export const Tags = z
  .array(Tag)
  .max(MAX_TAGS)
  .transform(tags => inOrder(tags))
  .meta({ description: 'Up to 20, in lower case' });

/** Returns unique tags in the order of their code points, which does not depend on a locale. */
export const inOrder = (tags: Iterable<string>): string[] => [...new Set(tags)].sort();
