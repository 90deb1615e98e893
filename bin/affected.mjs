/** Finds the tests that a change can affect, for `npm test -- --changed`, by imports, which are read as text. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { root } from './process.mjs';

/**
 * These files and the files that import them connect all parts. If imports were followed through them, every change of
 * a domain would affect most tests.
 */
const ROOTS =
  /^(server\/(process\/(main|container)|operation\/services|api\/(operations|registry))\.ts|server\/testing\/.*|e2e\/(?!journeys).*|app\/container\.ts)$/;
/** Fast tests of rules for all files. */
const ALWAYS = ['server/structure.test.ts', 'server/docs-links.test.ts', 'components/ui/words.test.ts'];
/** Journeys that visit every page, which takes minutes. */
const EVERY_PAGE = /(accessibility|viewer|look|overlays)\.spec\.ts$/;
/** The journey from an empty workspace to a repaired run, through most pages. */
const WHOLE_JOB = 'e2e/journeys/main-job.spec.ts';
/**
 * It proves that the simulation detects a broken engine, not that the engine works, and takes half of the time of a
 * slow run.
 */
const MUTATIONS = 'server/orchestrator/simulation/mutations.test.ts';
/**
 * The maximum number of waits in the selected journeys, counted as `await` in their files: each takes half a second,
 * with two workers on two cores. With more, the run takes longer than three minutes, the build included.
 */
const MAX_WAITS = 400;

/** Parts of file names, in the singular, that are unrelated to the content. */
const ENDINGS = new Set(['', 't', 'tx', 'mj', 'md', 'tsx', 'spec', 'test', 'page']);

const isTest = path => /\.test\.tsx?$/.test(path);
const isJourney = path => /^e2e\/journeys\/.*\.spec\.ts$/.test(path);
const isPage = path => /^app\/\((console|auth)\)\/.*page\.tsx$/.test(path);

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);

/** Returns the files that differ from a commit, and the new files that git does not ignore. Throws if git does not know the commit. */
export const changedSince = commit => [
  ...git('diff', '--name-only', commit, '--'),
  ...git('ls-files', '--others', '--exclude-standard'),
];

/** Returns the files of the checkout with the files that each imports: `Map<path, path[]>`. */
export function readImports(paths = git('ls-files', '--cached', '--others', '--exclude-standard')) {
  const sources = paths.filter(path => /\.(ts|tsx|mjs)$/.test(path) && existsSync(join(root, path)));
  const known = new Set(paths);
  return new Map(sources.map(path => [path, importsOf(path, readFileSync(join(root, path), 'utf8'), known)]));
}

function importsOf(path, text, known) {
  const named = [...text.matchAll(/(?:from|import|import\(|new URL\(|vi\.mock\()\s*'([.@]{1,2}\/[^']+)'/g)];
  return named.flatMap(([, name]) => {
    const target = name.startsWith('@/') ? name.slice(2) : posix.join(dirname(path), name);
    const found = ['', '.ts', '.tsx', '/index.ts'].map(end => target + end).find(file => known.has(file));
    return found === undefined ? [] : [found];
  });
}

/** Returns the file and everything that it imports, directly or indirectly. */
function reach(imports, path, isEnd = () => false, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  if (!isEnd(path)) for (const next of imports.get(path) ?? []) reach(imports, next, isEnd, found);
  return found;
}

/**
 * Returns the tests of vitest and the journeys that a change of files can affect: `{tests, journeys, left}`. Considers the journeys that
 * visit a page that imports a changed file. Selects those whose names share a word with a changed file, or else the journey of the whole
 * job. `left` has the other journeys, and the mutations of other files.
 */
export function affectedBy(changed, imports = readImports()) {
  const files = new Set(changed);
  const affects = reached => [...reached].some(path => files.has(path));
  // A test beside a file may reach the file only through the files that connect all parts.
  const sources = changed.filter(path => imports.has(path) && !isTest(path) && !isJourney(path));
  const folders = new Set(sources.map(dirname).filter(folder => folder.includes('/')));
  const isBeside = path => [...folders].some(folder => path.startsWith(`${folder}/`));
  const isAffected = path => isBeside(path) || affects(reach(imports, path, one => ROOTS.test(one)));
  const affected = [...imports.keys()].filter(path => isTest(path) && isAffected(path));
  const tests = affected.filter(path => path !== MUTATIONS || concernsMutations(changed, imports));
  const pages = [...imports.keys()].filter(isPage).map(path => ({ path, reached: reachedByPage(imports, path) }));
  const visiting = journeysOf(files, imports, pages);
  const near = visiting
    .filter(path => nearness(path, changed) > 0)
    .toSorted((one, other) => nearness(other, changed) - nearness(one, changed));
  const isShown = pages.some(({ reached }) => affects(reached));
  const journeys = near.length === 0 && isShown ? [WHOLE_JOB] : nearest(near, files);
  return {
    tests: [...new Set([...tests, ...ALWAYS])].sort(),
    journeys: journeys.sort(),
    left: [...visiting, ...affected].filter(path => !journeys.includes(path) && !tests.includes(path)).sort(),
  };
}

/** Returns the nearest journeys that fit in the time, at least one. Changed journeys are always included. */
function nearest(journeys, files) {
  let waits = 0;
  return journeys.filter((path, index) => {
    const own = readFileSync(join(root, path), 'utf8').split('await ').length - 1;
    if (index > 0 && !files.has(path) && waits + own > MAX_WAITS) return false;
    waits += own;
    return true;
  });
}

/** Returns true if a file belongs to the simulation, or is broken by a mutation, which names it by its path in the orchestrator. */
function concernsMutations(changed, imports) {
  const folder = dirname(MUTATIONS);
  const lists = [...imports.keys()].filter(path => dirname(path) === folder && /mutations[^/]*\.ts$/.test(path));
  const texts = lists.map(path => readFileSync(join(root, path), 'utf8'));
  return changed.some(path => {
    if (path.startsWith(`${folder}/`)) return true;
    const name = `'${posix.relative(dirname(folder), path)}'`;
    return texts.some(text => text.includes(name));
  });
}

/** Returns everything that a page imports. The layouts of the folders above it count as part of the page. */
function reachedByPage(imports, path) {
  const found = new Set();
  for (const layout of [...imports.keys()].filter(one => /layout\.tsx$/.test(one)))
    if (path.startsWith(`${dirname(layout)}/`)) reach(imports, layout, undefined, found);
  return reach(imports, path, undefined, found);
}

/** Returns the changed journeys, and those that name the address of a page that imports a changed file. */
function journeysOf(files, imports, pages) {
  const sections = new Set(
    pages.filter(({ reached }) => [...files].some(file => reached.has(file))).map(({ path }) => sectionOf(path)),
  );
  return [...imports.keys()].filter(path => {
    if (!isJourney(path)) return false;
    if (files.has(path)) return true;
    if (EVERY_PAGE.test(path)) return false;
    const text = readFileSync(join(root, path), 'utf8');
    return [...text.matchAll(/['"`]\/([a-z-]+(?:\/[a-z-]+)?)/g)].some(([, address]) =>
      [address, address.split('/')[0]].some(each => sections.has(each)),
    );
  });
}

/** Returns the first parts of a page's address: `settings/members`, `workflows`. */
const sectionOf = path =>
  path
    .replace(/^app\/\(\w+\)\/|\/?page\.tsx$/g, '')
    .split('/')
    .filter(part => !part.startsWith('['))
    .slice(0, 2)
    .join('/');

/** Returns the number of words that the names of a journey and of the changed files share, without the names of the top-level folders. */
function nearness(journey, changed) {
  const wordsOf = path =>
    path
      .toLowerCase()
      .replace(/^(server\/domains|server|components|app)\//, '')
      .split(/[^a-z]+/)
      .map(word => word.replace(/s$/, ''));
  const words = new Set(changed.flatMap(wordsOf).filter(word => !ENDINGS.has(word)));
  const own = changed.includes(journey) ? 100 : 0;
  return own + wordsOf(posix.basename(journey)).filter(word => words.has(word)).length;
}
