import { describe, expect, test } from 'vitest';
import { apply, type Draft, type Edit, type Fields, type Json, type Step } from './index.ts';

const draftOf = (...steps: Step[]): Draft => ({ name: 'n', description: '', graph: { steps }, run_setup: {} });
const script = (id: string, ...depends_on: string[]): Step => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
function applied(draft: Draft, edit: Edit) {
  const result = apply(draft, edit);
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.message}`);
  return result;
}
const stepsAfter = (draft: Draft, edit: Edit) => applied(draft, edit).draft.graph.steps;
const code = (draft: Draft, edit: Edit) => {
  const result = apply(draft, edit);
  return result.ok ? 'ok' : result.problem.code;
};

describe('steps', () => {
  const draft = draftOf(script('a'), script('b', 'a'));

  test('are added at the end or at an index', () => {
    expect(stepsAfter(draft, { type: 'add_step', step: script('c') }).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(stepsAfter(draft, { type: 'add_step', step: script('c'), at: 0 }).map(({ id }) => id)).toEqual([
      'c',
      'a',
      'b',
    ]);
    expect(code(draft, { type: 'add_step', step: script('c'), at: 3 })).toBe('invalid_index');
    expect(code(draft, { type: 'add_step', step: script('a') })).toBe('step_exists');
    expect(code(draft, { type: 'add_step', step: script('1 x') })).toBe('invalid_step_id');
  });

  test('and the graph keep the given order of keys, in which forms show their fields', () => {
    const properties = (...names: string[]) => ({ properties: Object.fromEntries(names.map(name => [name, {}])) });
    const before = applied(draft, { type: 'update_step', step: 'a', set: { form: properties('x', 'y') } }).draft;
    const moved = applied(before, { type: 'update_step', step: 'a', set: { form: properties('y', 'x') } });
    expect(JSON.stringify(moved.draft.graph.steps[0]?.form)).toBe('{"properties":{"y":{},"x":{}}}');
    expect(JSON.stringify(applied(moved.draft, moved.inverse).draft)).toBe(JSON.stringify(before));
    const same = applied(moved.draft, { type: 'update_step', step: 'a', set: { form: properties('y', 'x') } });
    expect(same.draft).toBe(moved.draft);

    const first = applied(draft, { type: 'update_graph', set: { input_schema: properties('x', 'y') } }).draft;
    const second = applied(first, { type: 'update_graph', set: { input_schema: properties('y', 'x') } });
    expect(JSON.stringify(second.draft.graph.input_schema)).toBe('{"properties":{"y":{},"x":{}}}');
    expect(JSON.stringify(applied(second.draft, second.inverse).draft)).toBe(JSON.stringify(first));
  });

  test('have fields set and removed, but not their id', () => {
    const edit: Edit = {
      type: 'update_step',
      step: 'b',
      set: { name: 'B', timeout_s: 5 },
      unset: ['depends_on'],
    };
    expect(stepsAfter(draft, edit)[1]).toEqual({
      id: 'b',
      type: 'lua_script',
      script: 'return 1',
      name: 'B',
      timeout_s: 5,
    });
    expect(code(draft, { type: 'update_step', step: 'b', set: { id: 'c' } })).toBe('id_not_editable');
    expect(code(draft, { type: 'update_step', step: 'b', unset: ['id'] })).toBe('id_not_editable');
    expect(code(draft, { type: 'update_step', step: 'b', unset: ['type'] })).toBe('type_not_removable');
    expect(code(draft, { type: 'update_step', step: 'x' })).toBe('step_not_found');
  });

  test('keep a field that is called __proto__', () => {
    const set = JSON.parse('{"__proto__": {"x": 1}}');
    const after = stepsAfter(draft, { type: 'update_step', step: 'a', set })[0];
    expect(JSON.stringify(after)).toBe('{"id":"a","type":"lua_script","script":"return 1","__proto__":{"x":1}}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('are moved to a position, and back to the layout', () => {
    const moved = applied(draft, { type: 'move', step: 'a', position: { x: 1, y: 2 } }).draft;
    expect(moved.graph.steps[0]).toMatchObject({ position: { x: 1, y: 2 } });
    expect(stepsAfter(moved, { type: 'move', step: 'a', position: null })[0]).not.toHaveProperty('position');
  });
});

describe('notes', () => {
  const note = { id: 'n', text: 'Ask Ada', position: { x: 1, y: 2 } };
  const draft = draftOf(script('a'));

  test('are set, replaced and removed', () => {
    const one = applied(draft, { type: 'set_note', note }).draft;
    expect(one.graph.notes).toEqual([note]);
    expect(applied(one, { type: 'set_note', note: { ...note } }).draft).toBe(one);
    const changed = applied(one, { type: 'set_note', note: { ...note, text: 'Ask Bob' } }).draft;
    expect(changed.graph.notes).toEqual([{ ...note, text: 'Ask Bob' }]);
    expect(applied(changed, { type: 'remove_note', note: 'n' }).draft.graph.notes).toEqual([]);
    expect(code(draft, { type: 'remove_note', note: 'n' })).toBe('note_not_found');
  });

  test('do not change when the inverse of another edit is applied', () => {
    const first = applied(draft, { type: 'set_note', note });
    const second = applied(first.draft, { type: 'set_note', note: { ...note, id: 'm' } });
    expect(applied(second.draft, first.inverse).draft.graph.notes).toEqual([{ ...note, id: 'm' }]);
  });
});

describe('connections', () => {
  const check: Step = {
    id: 'check',
    type: 'condition',
    expression: 'true',
    depends_on: ['a'],
    then: ['yes'],
    else: ['no'],
  };
  const draft = draftOf(script('a'), check, script('yes', 'check'), script('no', 'check'));

  test('are added once, and never as a cycle', () => {
    expect(stepsAfter(draft, { type: 'connect', from: 'a', to: 'yes' })[2]).toMatchObject({
      depends_on: ['check', 'a'],
    });
    const again = applied(draft, { type: 'connect', from: 'a', to: 'check' });
    expect(again.draft).toBe(draft);
    expect(code(draft, { type: 'connect', from: 'yes', to: 'a' })).toBe('would_be_cycle');
    expect(code(draft, { type: 'connect', from: 'a', to: 'a' })).toBe('connects_itself');
    expect(code(draft, { type: 'connect', from: 'a', to: 'yes', branch: 'then' })).toBe('not_a_condition');
  });

  test('belong to one branch or to both', () => {
    const both = applied(draft, { type: 'connect', from: 'check', to: 'no', branch: 'then' }).draft;
    expect(both.graph.steps[1]).toMatchObject({ then: ['yes', 'no'], else: ['no'] });
    expect(applied(both, { type: 'connect', from: 'check', to: 'no', branch: 'else' }).draft).toBe(both);
    const between = stepsAfter(both, { type: 'insert_between', from: 'check', to: 'no', step: script('mid') });
    expect(between[1]).toMatchObject({ then: ['yes', 'mid'], else: ['mid'] });
    const cut = stepsAfter(both, { type: 'disconnect', from: 'check', to: 'no' })[1];
    expect(cut).toMatchObject({ then: ['yes'] });
    expect(cut).not.toHaveProperty('else');
  });

  test('are removed from the branches too', () => {
    const steps = stepsAfter(draft, { type: 'disconnect', from: 'check', to: 'yes' });
    expect(steps[1]).not.toHaveProperty('then');
    expect(steps[2]).not.toHaveProperty('depends_on');
    expect(code(draft, { type: 'disconnect', from: 'a', to: 'yes' })).toBe('not_connected');
  });

  test('take a step between them, which also replaces the step in the branch', () => {
    const steps = stepsAfter(draft, { type: 'insert_between', from: 'check', to: 'yes', step: script('mid') });
    expect(steps.map(({ id }) => id)).toEqual(['a', 'check', 'mid', 'yes', 'no']);
    expect(steps[1]).toMatchObject({ then: ['mid'], else: ['no'] });
    expect(steps[2]).toMatchObject({ depends_on: ['check'] });
    expect(steps[3]).toMatchObject({ depends_on: ['mid'] });
    const circular = script('mid', 'yes');
    expect(code(draft, { type: 'insert_between', from: 'check', to: 'yes', step: circular })).toBe('would_be_cycle');
  });

  test('of a removed step are joined or removed', () => {
    const healed = stepsAfter(draft, { type: 'remove_step', step: 'check', heal: true });
    expect(healed.slice(1).map(step => step.depends_on)).toEqual([['a'], ['a']]);
    const cut = stepsAfter(draft, { type: 'remove_step', step: 'check' });
    expect(cut.slice(1).map(step => step.depends_on)).toEqual([undefined, undefined]);
    const inBranch = draftOf(script('a'), check, script('yes', 'check'), script('no', 'check'), script('after', 'yes'));
    expect(stepsAfter(inBranch, { type: 'remove_step', step: 'yes', heal: true })[1]).toMatchObject({
      then: ['after'],
    });
  });
});

describe('renaming a step', () => {
  const rename: Edit = { type: 'rename_step', step: 'a', to: 'first-one' };
  const renamed = (step: Step) => stepsAfter(draftOf(script('a'), step), rename)[1];

  test('renames it in lists of ids and in the run setup', () => {
    const check: Step = {
      id: 'c',
      type: 'condition',
      expression: 'true',
      depends_on: ['a', 'x'],
      then: ['a'],
      else: ['b'],
    };
    expect(renamed(check)).toMatchObject({ depends_on: ['first-one', 'x'], then: ['first-one'], else: ['b'] });
    const overrides = (id: string, prompt: string, expression: string): Fields => ({
      trigger_steps: { [id]: { seed: 1 }, b: { prompt }, if: { expression } },
    });
    const draft = {
      ...draftOf(script('a'), script('b'), { id: 'if', type: 'condition' }),
      run_setup: overrides('a', '{{steps.a.result}}', 'steps.a.result > 1'),
    };
    expect(applied(draft, rename).draft.run_setup).toEqual(
      overrides('first-one', '{{steps.first-one.result}}', 'steps["first-one"].result > 1'),
    );
  });

  test.each([
    ['{{steps.a.result}}', '{{steps.first-one.result}}'],
    ['x{{ steps.a.result.y ?? 1 }}y{{steps.b.result}}', 'x{{ steps.first-one.result.y ?? 1 }}y{{steps.b.result}}'],
    ['{{steps["a"].result[0]}}', '{{steps["first-one"].result[0]}}'],
    [
      '{{steps.b.result ?? "{{steps.a.result}}"}} {{steps.a.result}}',
      '{{steps.b.result ?? "{{steps.a.result}}"}} {{steps.first-one.result}}',
    ],
    [
      '{{steps.b.result ?? {"k": ["}}"]}}} {{steps.a.result}}',
      '{{steps.b.result ?? {"k": ["}}"]}}} {{steps.first-one.result}}',
    ],
    ['{{steps.ab.result}} {{input.a}} steps.a', '{{steps.ab.result}} {{input.a}} steps.a'],
    ['{{steps.a', '{{steps.first-one'],
    ['{{steps.b.result ?? steps.a.result}}', '{{steps.b.result ?? steps.first-one.result}}'],
    [
      '{{ steps.a.result.x??steps["a"].result ?? steps.ab.result ?? "steps.a" }}{{input.x ?? steps.a.error}}',
      '{{ steps.first-one.result.x??steps["first-one"].result ?? steps.ab.result ?? "steps.a" }}{{input.x ?? steps.first-one.error}}',
    ],
    [
      '{{input["?? steps.a"] ?? steps.a.result}} ?? steps.a',
      '{{input["?? steps.a"] ?? steps.first-one.result}} ?? steps.a',
    ],
    ["{{ '{{steps.a.result ?? ' }} {{steps.a.result}}", "{{ '{{steps.a.result ?? ' }} {{steps.first-one.result}}"],
    ["{{ '{{steps.a", "{{ '{{steps.a"],
  ])('rewrites templates: %s', (before, expected) => {
    const step: Step = { id: 's', type: 'llm_call', prompt: before, nested: [{ deep: before }] };
    expect(renamed(step)).toEqual({ ...step, prompt: expected, nested: [{ deep: expected }] });
  });

  test.each([
    ['steps.a.result > 1', 'steps["first-one"].result > 1'],
    ['steps . a . result && steps["a"].result', 'steps [ "first-one"] . result && steps["first-one"].result'],
    ["steps['a'].result == 'steps.a'", 'steps["first-one"].result == \'steps.a\''],
    ['input.steps.a == 1 // steps.a', 'input.steps.a == 1 // steps.a'],
    ['steps.ab.result + """steps.a"""', 'steps.ab.result + """steps.a"""'],
    ['has(steps.a.result.x)', 'has(steps["first-one"].result.x)'],
  ])('rewrites CEL: %s', (expression, expected) => {
    expect(renamed({ id: 's', type: 'condition', expression })).toMatchObject({ expression: expected });
  });

  test('lists the lines of Lua that may read the step, and rewrites templates in them', () => {
    const lua = 'local x = steps.a.result\nlocal y = {{steps.a.result}}\nreturn steps["a"]\n-- ab';
    const done = applied(draftOf(script('a'), { id: 's', type: 'lua_script', script: lua }), rename);
    expect(done.draft.graph.steps[1]?.script).toBe(lua.replace('{{steps.a.', '{{steps.first-one.'));
    expect(done.unrewritten.map(({ step, field, line }) => [step, field, line])).toEqual([
      ['s', 'script', 1],
      ['s', 'script', 3],
    ]);
  });

  test('renames references in the list and in the steps of a loop', () => {
    const inner = (expression: string, script: string): Step[] => [
      { id: 'check', type: 'condition', expression },
      { id: 'l', type: 'for_each', items: '{{steps.a.result.list}}', steps: [{ id: 's', type: 'lua_script', script }] },
    ];
    const items = 'steps.a.result.filter(x, x > 1)';
    const loop = (from: string, steps: Step[]): Step => ({ id: 'loop', type: 'for_each', items: from, steps });
    const before = loop(items, inner('steps.a.result == item', 'return {{steps.a.result}} + steps.a.result'));
    const done = applied(draftOf(script('a'), before), rename);
    const to = 'steps["first-one"].result';
    const [check, nested] = inner(`${to} == item`, 'return {{steps.first-one.result}} + steps.a.result') as [
      Step,
      Step,
    ];
    const after = loop(`${to}.filter(x, x > 1)`, [check, { ...nested, items: '{{steps.first-one.result.list}}' }]);
    expect(done.draft.graph.steps[1]).toEqual(after);
    expect(done.unrewritten.map(({ step, field, line }) => [step, field, line])).toEqual([
      ['loop', 'steps[1].steps[0].script', 1],
    ]);
  });

  test('ignores loops without valid steps, and unknown types', () => {
    for (const step of [
      { id: 'l', type: 'for_each', steps: [1, { id: 2, type: {} }] },
      { id: 'l', type: 'constructor' },
      { id: 'l', type: 'for_each', steps: [{ id: 'x', type: '__proto__' }] },
    ] as unknown as Step[])
      expect(renamed(step)).toEqual(step);
  });

  test('renames it in the searchable fields of the graph', () => {
    const draft = draftOf(script('a'));
    const searchable = { total: '{{steps.a.result.total}}', order: '{{input.a}}', other: '{{steps.ab.result}}' };
    const done = applied({ ...draft, graph: { ...draft.graph, searchable } }, rename);
    expect(Object.keys(done.draft.graph.searchable ?? {})).toEqual(['total', 'order', 'other']);
    expect(done.draft.graph.searchable).toEqual({ ...searchable, total: '{{steps.first-one.result.total}}' });
  });

  test('does not change the tool of the graph, which has no templates', () => {
    const draft = draftOf(script('a'));
    const set = applied(draft, { type: 'update_graph', set: { tool: { description: '{{steps.a.result}}' } } });
    expect(applied(set.draft, rename).draft.graph.tool).toEqual({ description: '{{steps.a.result}}' });
    const unset = applied(set.draft, { type: 'update_graph', unset: ['tool'] });
    expect(unset.draft.graph).not.toHaveProperty('tool');
    expect(applied(unset.draft, unset.inverse).draft).toEqual(set.draft);
  });

  test('renames it in the output of the graph', () => {
    const draft = draftOf(script('a'));
    const output = { total: ['{{steps.a.result}}'], other: '{{steps.ab.result}}' };
    const done = applied({ ...draft, graph: { ...draft.graph, output } }, rename);
    expect(done.draft.graph.output).toEqual({
      total: ['{{steps.first-one.result}}'],
      other: '{{steps.ab.result}}',
    });
  });

  test('reports no line of a script that does not read steps, or of the renamed step', () => {
    const own: Step = { id: 'a', type: 'lua_script', script: 'local steps = 1\nreturn "a"' };
    const other: Step = { id: 's', type: 'lua_script', script: 'return {kind = "a", x = {{steps.a.result}}}' };
    expect(applied(draftOf(own, other), rename).unrewritten).toEqual([]);
  });

  test('refuses an id that is taken or invalid', () => {
    const draft = draftOf(script('a'), script('b'));
    expect(code(draft, { type: 'rename_step', step: 'a', to: 'b' })).toBe('step_exists');
    expect(code(draft, { type: 'rename_step', step: 'a', to: 'a.b' })).toBe('invalid_step_id');
    expect(applied(draft, { type: 'rename_step', step: 'a', to: 'a' }).draft).toBe(draft);
  });

  test('refuses the id of a step in a loop, also for new steps', () => {
    const nested: Step = { id: 'l', type: 'for_each', items: 'input.y', steps: [script('deep')] as unknown as Json };
    const loop: Step = {
      id: 'each',
      type: 'for_each',
      items: 'input.x',
      steps: [script('x'), nested] as unknown as Json,
    };
    const draft = draftOf(script('a'), loop);
    for (const to of ['x', 'l', 'deep']) {
      const result = apply(draft, { type: 'rename_step', step: 'a', to });
      expect(result).toMatchObject({
        problem: { code: 'step_exists', message: `The loop "each" has a step "${to}" already.` },
      });
      expect(code(draft, { type: 'rename_step', step: 'each', to })).toBe('step_exists');
      expect(code(draft, { type: 'add_step', step: script(to) })).toBe('step_exists');
    }
    expect(code(draft, { type: 'rename_step', step: 'a', to: 'y' })).toBe('ok');
  });

  test('ignores a loop with a step of the same id', () => {
    const own = script('a');
    const reader: Step = { id: 's', type: 'lua_script', script: 'return {{steps.a.result}} + steps.a.result' };
    const loop: Step = {
      id: 'each',
      type: 'for_each',
      items: 'steps.a.result',
      steps: [own, reader] as unknown as Json,
    };
    const done = applied(draftOf(script('a'), loop), rename);
    expect(done.draft.graph.steps[1]).toEqual({ ...loop, items: 'steps["first-one"].result' });
    expect(done.unrewritten).toEqual([]);
  });

  test('drops an override that an earlier step has left over', () => {
    const run_setup = { trigger_steps: { 'first-one': { seed: 1 }, a: { seed: 2 } } };
    expect(applied({ ...draftOf(script('a')), run_setup }, rename).draft.run_setup).toEqual({
      trigger_steps: { 'first-one': { seed: 2 } },
    });
  });

  test('renames references in keys at any depth without losing a key', () => {
    const call = (id: string): Step => ({
      id: 'h',
      type: 'http_request',
      headers: { [`{{steps.${id}.result}}`]: 'x' },
      body: [
        { plain: 1, [`k-{{input.k ?? steps.${id}.result}}`]: { [`{{steps.${id}.error}}`]: `{{steps.${id}.result}}` } },
      ],
    });
    expect(renamed(call('a'))).toEqual(call('first-one'));
    const twice = { '{{steps.first-one.result}}': 1, '{{steps.a.result}}': '{{steps.a.result}}' };
    expect(renamed({ id: 's', type: 'mcp_call', tool_args: twice })?.tool_args).toEqual({
      ...twice,
      '{{steps.a.result}}': '{{steps.first-one.result}}',
    });
  });

  test('takes linear time for many templates that are not closed', () => {
    const text = '{{steps.a.result ?? ['.repeat(12_000);
    expect(renamed({ id: 's', type: 'llm_call', prompt: text })?.prompt).toBe(
      text.replace('steps.a.', 'steps.first-one.'),
    );
    for (const unclosed of ["{{ '", '{{input.x ?? ', "{{ 'steps.a"]) {
      const long = unclosed.repeat(100_000);
      const began = process.cpuUsage();
      renamed({ id: 's', type: 'llm_call', prompt: `${long}steps.a` });
      expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
    }
  });
});

test('undoing an edit keeps later changes elsewhere in the draft', () => {
  const draft = draftOf(script('a'), script('b', 'a'));
  const first = applied(draft, { type: 'update_step', step: 'a', set: { name: 'mine' } });
  const later = applied(first.draft, { type: 'update_step', step: 'a', set: { timeout_s: 9 } });
  const undone = applied(later.draft, first.inverse).draft.graph.steps[0];
  expect(undone).toEqual({ ...script('a'), timeout_s: 9 });
});
