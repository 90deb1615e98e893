/** A folder with its number of workflows. */
export type Folder = { path: string; workflows: number };

/** Returns the folders on the path to a folder, from the outermost to the folder itself. */
export function foldersTo(path: string): { path: string; name: string }[] {
  if (path === '') return [];
  const names = path.split('/');
  return names.map((name, index) => ({ path: names.slice(0, index + 1).join('/'), name }));
}

/** Returns the folders directly inside `path`; for an empty path, the top-level folders. */
export function foldersIn<F extends { path: string }>(path: string, folders: readonly F[]): F[] {
  const prefix = path === '' ? '' : `${path}/`;
  return folders.filter(each => each.path.startsWith(prefix) && !each.path.slice(prefix.length).includes('/'));
}

/** Returns the last name of a path. */
export const nameOf = (path: string): string => path.split('/').at(-1) ?? '';

/** Returns the part of a path below the current folder; the whole path if it is elsewhere. */
export const pathFrom = (shown: string, path: string): string =>
  path === shown ? '' : path.startsWith(`${shown}/`) ? path.slice(shown.length + 1) : path;

/** Returns a path for display. */
export const pathLabel = (path: string): string => path.split('/').join(' / ');

/** Splits a text with commas into tags, in the form in which the service stores them. */
export function tagsOf(text: string): string[] {
  const tags = text.split(',').map(tag => tag.normalize('NFC').replace(/\s+/gu, ' ').trim().toLowerCase());
  return [...new Set(tags)].filter(tag => tag !== '').sort();
}

/** Returns the tags to add and to remove so that `from` becomes the other list. */
export function tagChange(from: readonly string[], to: readonly string[]): { add: string[]; remove: string[] } {
  return { add: to.filter(tag => !from.includes(tag)), remove: from.filter(tag => !to.includes(tag)) };
}
