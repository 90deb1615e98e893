import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STEP_TYPES } from './orchestrator/steps/descriptions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const STEPS = 'server/orchestrator/steps';
/** The lists that name each type in a line: three for the console, which loads them at different times, and two for the server. */
const LISTS = ['descriptions', 'step-previews', 'step-help', 'step-facts', 'registry'].map(
  list => `${STEPS}/${list}.ts`,
);
const PAGE = 'docs/specification/steps.md';

/** The folder of a new type, which names one thing of each kind. */
const FOLDER: Readonly<Record<string, string>> = {
  'description.ts': `import type { StepTypeDescription } from '../../ports/step-type.ts';
export const description = {
  label: 'Ping', icon: 'globe', family: 'requests', billable: [], startScope: 'mcp:execute',
} as const satisfies StepTypeDescription;
`,
  'preview.ts': `import type { StepPreview } from '../../ports/step-declarations.ts';
export const preview: StepPreview = { starter: { host: 'localhost' }, summary: ({ host }) => 'Ping ' + host };
`,
  'help.ts': `import type { StepHelp } from '../../ports/step-declarations.ts';
export const help: StepHelp = {
  what: 'Asks a host whether it is there.', result: 'Whether it is.', facts: [],
  example: { steps: [{ id: 'example', type: 'ping', host: 'localhost' }] },
  words: ['echo'], next: ['condition'],
};
`,
  'facts.ts': `import type { StepFacts } from '../../ports/step-declarations.ts';
export const facts: StepFacts = {
  defaultTimeoutS: 5, retries: false, guide: '{host}. Result: true or false.',
  references: {
    connection: 'connection_id', model: 'model', instances: [{ field: 'instance_id' }],
    agents: [{ list: 'helpers', field: 'agent_id' }], workflows: [{ field: 'then_run' }],
  },
  actsForPerson: true,
};
`,
  'ping.ts': `import { z } from 'zod';
import type { StepType } from '../../ports/step-type.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';
export const ping: StepType = {
  type: 'ping', ...description, ...facts, fields: z.strictObject({ host: z.string() }), available: true,
  dataFields: [], rawFields: [], check: () => [], execute: async () => ({ kind: 'completed', result: true }),
};
`,
};

/** A program that prints how each part of the product that uses step types describes the new type. */
const PROBE = `
import { getPrompt } from './api/mcp/prompts.ts';
import { startScopes } from './domains/runs/start/step-scopes.ts';
import { validateGraph } from './orchestrator/validation/index.ts';
import { commonFields } from './orchestrator/steps/common-fields.ts';
import { stepTypeDescription } from './orchestrator/steps/descriptions.ts';
import * as references from './orchestrator/steps/references.ts';
import { createStepTypes } from './orchestrator/steps/registry.ts';
import { typesWith } from './orchestrator/steps/step-facts.ts';
import { stepFinding } from './orchestrator/steps/step-finding.ts';
import { STEP_HELP } from './orchestrator/steps/step-help.ts';
import { stepPreview } from './orchestrator/steps/step-previews.ts';
import { summaryOf } from './orchestrator/steps/summary.ts';
const step = { id: 'p', type: 'ping', host: 'localhost', then_run: 'W', helpers: [{ agent_id: 'A' }] };
const types = createStepTypes({ luaPool: {} });
const prompt = await getPrompt({}, {}, 'build_workflow', { goal: 'Ping' });
console.log(JSON.stringify({
  label: stepTypeDescription('ping')?.label,
  starter: stepPreview('ping').starter,
  summary: summaryOf(step),
  words: stepFinding('ping').words,
  valid: STEP_HELP.ping && (await validateGraph(STEP_HELP.ping.example, types, { tenantId: 't', projectId: 'p' })).valid,
  fields: Object.entries(commonFields).flatMap(([name, field]) => field.meta()?.description?.includes('ping') ? [name] : []),
  isInPrompt: prompt.messages[0].content.text.includes('- ping: {host}. Result: true or false.'),
  scopes: startScopes.filter(({ when }) => when.includes('ping')).map(({ scope }) => scope),
  connection: references.fieldsNaming('connection').some(({ type, field }) => type === 'ping' && field === 'connection_id'),
  model: references.fieldsNaming('model').some(({ type }) => type === 'ping'),
  instance: references.patternsNaming('instances', 'I').find(({ type }) => type === 'ping'),
  agent: references.placesNaming('agents').find(({ type }) => type === 'ping'),
  called: [...references.namedBy(step, 'workflows'), ...references.namedBy(step, 'agents')],
  calls: references.callingTypes().includes('ping'),
  acts: typesWith(({ actsForPerson }) => actsForPerson === true).includes('ping'),
}));
`;

const KNOWN = {
  label: 'Ping',
  starter: { host: 'localhost' },
  summary: 'Ping localhost',
  words: ['echo'],
  valid: true,
  fields: ['type', 'timeout_s', 'retry_count'],
  isInPrompt: true,
  scopes: ['mcp:execute'],
  connection: true,
  model: true,
  instance: { type: 'ping', instance_id: 'I' },
  agent: { type: 'ping', list: 'helpers', field: 'agent_id' },
  called: [{ id: 'W' }, { id: 'A' }],
  calls: true,
  acts: true,
};

const readIn = (base: string, path: string) => readFileSync(join(base, path), 'utf8');

/** Returns the text of a list with the new type added after `wait`, in the same form. */
function naming(list: string): string {
  const text = readIn(root, list);
  const lines = text.split('\n').flatMap(line => {
    const isName = /^ +wait,$/.test(line) || line.includes("'./wait/");
    return isName ? [line, line.replaceAll(/\bwait\b/g, 'ping')] : [line];
  });
  return lines.join('\n');
}

describe('a new step type', () => {
  let copy = '';
  const sources = globSync('server/**/*.{ts,json}', { cwd: root }).filter(path => !/\.test\.ts$|\/golden\//.test(path));

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'baton-step-type-'));
    for (const path of [...sources, 'package.json', PAGE]) cpSync(join(root, path), join(copy, path));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const runProbe = async (): Promise<unknown> => {
    writeFileSync(join(copy, 'server/probe.ts'), PROBE);
    const { stdout } = await promisify(execFile)(process.execPath, [join(copy, 'server/probe.ts')]);
    rmSync(join(copy, 'server/probe.ts'));
    return JSON.parse(stdout);
  };

  test('is a folder, a line in each list of types and its part of a page, and then the whole product knows it', async () => {
    mkdirSync(join(copy, STEPS, 'ping'));
    for (const [file, text] of Object.entries(FOLDER)) writeFileSync(join(copy, STEPS, 'ping', file), text);
    for (const list of LISTS) writeFileSync(join(copy, list), naming(list));
    writeFileSync(join(copy, PAGE), `${readIn(root, PAGE)}\n## ping\n\nAsks a host whether it is there.\n`);
    expect(await runProbe()).toEqual(KNOWN);

    const present = globSync('{server,docs}/**/*.{ts,json,md}', { cwd: copy });
    const isNew = (path: string) => !sources.includes(path) && path !== PAGE;
    const folders = new Set(present.filter(isNew).map(path => path.slice(0, path.lastIndexOf('/'))));
    expect([...folders]).toEqual([`${STEPS}/ping`]);
    const touched = present.filter(path => !isNew(path) && readIn(copy, path) !== readIn(root, path));
    expect(touched.toSorted()).toEqual([...LISTS, PAGE].toSorted());
    for (const list of LISTS) {
      const before = readIn(root, list).split('\n');
      // The two added lines are an import and the name.
      expect(readIn(copy, list).split('\n').length - before.length).toBe(2);
    }
  });

  test.each(LISTS)('is not known without its line in %s', async list => {
    writeFileSync(join(copy, list), readIn(root, list));
    try {
      expect(await runProbe()).not.toEqual(KNOWN);
    } finally {
      writeFileSync(join(copy, list), naming(list));
    }
  });
});

/** The types that the core knows: the branches of a condition, the graph of a loop, the turns and calls of an agent. */
const OF_THE_CORE = ['condition', 'for_each', 'agent'];
/** The other files that may name a type, and why. A new type is in none of them. */
const NAMING: readonly [path: RegExp, why: string][] = [
  [
    /^server\/domains\/seed\/|^components\/workflows\/(templates\/|example\.ts$)|^server\/api\/examples\.ts$/,
    'whole workflows',
  ],
  [/^server\/orchestrator\/runtime\/runs\/child-runs\.ts$/, 'the trigger of called runs has the name of their type'],
  [/^server\/domains\/runs\/(.+\/)?readers\.ts$/, 'the trigger of called runs has the name of their type'],
  [
    /^server\/domains\/memory\/agent-tools\/conversation-store\.ts$/,
    'the trigger of called runs has the name of their type',
  ],
  [/^server\/orchestrator\/turn\/outcome\.ts$/, 'the answers of models are kept whole'],
  [/^server\/orchestrator\/validation\/workflow-tool\.ts$/, 'the method of a request says whether it only reads'],
  [/^server\/domains\/workflows\/edits\/references\.ts$/, 'scripts are in Lua'],
  [/^server\/domains\/workflows\/edits\/extract\.ts$/, 'steps are moved into a workflow that is called'],
  [
    /^components\/editor\/(regroup-dialogs|canvas\/selection-entries)\.tsx$/,
    'steps are moved into a workflow that is called',
  ],
  [/^server\/domains\/runs\/(.+\/)?(pinned-steps|step-alone)\.ts$/, 'a script takes the place of a step'],
  [/^server\/domains\/runs\/(.+\/)?continuation\.ts$/, 'the name of a task is what people see'],
  [
    /^components\/(runs\/(called-runs|event-list)|graph\/called-names|editor\/code\/use-completion|editor\/start\/start-scopes)\.tsx?$/,
    'called runs are shown',
  ],
  [/^components\/editor\/palette\/palette-entries\.ts$/, 'tools are offered as steps'],
];

test('no other file names a type, but for a reason', () => {
  const names = Object.keys(STEP_TYPES).filter(type => !OF_THE_CORE.includes(type));
  // `wait` is left out, because other things are called `wait` too.
  const named = new RegExp(`'(${names.filter(type => type !== 'wait').join('|')})'|\\btype'?( ===|:| =) 'wait'`);
  const files = globSync('{app,bin,components,server}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: path => /(^|\/)(generated|node_modules|testing|fixtures|simulation)$/.test(path),
  }).filter(path => !/\.test\.tsx?$/.test(path) && !path.startsWith(`${STEPS}/`) && named.test(readIn(root, path)));
  expect(files.filter(path => !NAMING.some(([known]) => known.test(path)))).toEqual([]);
  expect(NAMING.filter(([known]) => !files.some(path => known.test(path)))).toEqual([]);
});

test('every step type has its part of the specification', () => {
  const page = readIn(root, PAGE);
  for (const type of Object.keys(STEP_TYPES)) expect(page).toContain(`\n## ${type}\n`);
});
