import { expect, test } from 'vitest';
import { affectedBy, readImports } from './affected.mjs';

const imports = readImports();
const affected = (...changed: string[]) => affectedBy(changed, imports);

test('a change of the server selects the tests that import it, but not through the files that connect all parts', () => {
  const { tests, journeys } = affected('server/domains/webhooks/signature.ts');
  expect(tests).toContain('server/domains/webhooks/signature.test.ts');
  expect(tests).toContain('server/domains/webhooks/webhooks.test.ts');
  expect(tests).not.toContain('server/domains/memory/isolation.test.ts');
  expect(tests).not.toContain('e2e/faults/kill.test.ts');
  expect(journeys).toContain('e2e/journeys/webhooks.spec.ts');
});

test('a change of the console selects the nearest journeys that visit its pages', () => {
  const { journeys, left } = affected('components/webhooks/create-webhook.tsx');
  expect(journeys).toEqual(['e2e/journeys/webhook-presets.spec.ts', 'e2e/journeys/webhooks.spec.ts']);
  expect(left).not.toContain('e2e/journeys/analytics.spec.ts');
});

test('a change of every page selects the journey of the whole job, and the others are named', () => {
  const { journeys, left } = affected('components/shell/sidebar.tsx');
  expect(journeys).toEqual(['e2e/journeys/main-job.spec.ts']);
  expect(left).toContain('e2e/journeys/workflows.spec.ts');
});

test('as many journeys are selected as fit in the time, and each changed one', () => {
  const { journeys, left } = affected('server/domains/runs/start/start.ts');
  expect(journeys.length).toBeGreaterThan(1);
  expect(left).toContain('e2e/journeys/workflow-page.spec.ts');
  const changed = ['chat', 'keyboard', 'memory', 'run-page', 'editor'].map(name => `e2e/journeys/${name}.spec.ts`);
  expect(affected(...changed).journeys).toEqual(changed.toSorted());
});

test('a step type is simulated, and mutations are tested only if a change affects what they break', () => {
  const simulation = 'server/orchestrator/simulation/simulation.test.ts';
  const mutations = 'server/orchestrator/simulation/mutations.test.ts';
  const step = affected('server/orchestrator/steps/condition/condition.ts');
  expect(step.tests).toContain(simulation);
  expect(step.tests).not.toContain(mutations);
  expect(step.left).toContain(mutations);
  for (const path of ['core/decide.ts', 'simulation/oracle.ts'])
    expect(affected(`server/orchestrator/${path}`).tests).toEqual(expect.arrayContaining([simulation, mutations]));
});

test('a changed test or journey is selected itself, and texts select only the tests that always run', () => {
  const { tests } = affected('e2e/faults/kill.test.ts');
  expect(tests.filter(path => path.startsWith('e2e/'))).toEqual(['e2e/faults/kill.test.ts']);
  expect(affected('e2e/journeys/notes.spec.ts').journeys).toEqual(['e2e/journeys/notes.spec.ts']);
  expect(affected('README.md')).toEqual({
    tests: ['components/ui/words.test.ts', 'server/docs-links.test.ts', 'server/structure.test.ts'],
    journeys: [],
    left: [],
  });
});
