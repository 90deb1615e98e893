import { type Api, expect, test } from '../fixtures/console.ts';

const lua = (id: string, script: string, more: object = {}) => ({ id, type: 'lua_script', script, ...more });
async function publish(api: Api, name: string, graph: object): Promise<string> {
  const { id } = await api.call('POST', '/v1/workflows', { name, graph });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, {});
  return String(id);
}
async function start(api: Api, id: string): Promise<string> {
  const { run_id } = await api.call('POST', `/v1/workflows/${id}/command`, { command: 'start', params: { trigger_payload: { n: 2 } } });
  return `/workflows/${id}/runs/${String(run_id)}`;
}
test('shots @phone', async ({ member, api }, info) => {
  test.setTimeout(180_000);
  const steps = [
    lua('fetch', 'local t=0 for i=1,2000000 do t=t+i end return {total=7}', { name: 'Fetch orders' }),
    { id: 'each', type: 'for_each', name: 'Each order', items: JSON.stringify(Array.from({ length: 40 }, (_, i) => i + 1)), concurrency: 4, on_item_error: 'continue', depends_on: ['fetch'],
      steps: [lua('charge', 'if item % 13 == 0 then error("card declined") end return item', { name: 'Charge the card' }), lua('mail', 'return 1', { name: 'Send the receipt', depends_on: ['charge'] })] },
    lua('big', 'return true', { name: 'Is it large?', depends_on: ['each'] }),
    lua('sum', 'if input.n == 2 then error("the totals do not match: 41 expected, 39 found") end return 1', { name: 'Check the totals', depends_on: ['big'] }),
    lua('report', 'return 1', { name: 'Write the report', depends_on: ['sum'] }),
  ];
  const id = await publish(api, 'Monthly invoices of all customers', { steps });
  const path = await start(api, id);
  await expect.poll(async () => (await api.call('GET', `/v1${path}/summary`)).run_complete).toBe(true);
  const { run_id } = await api.call('POST', `/v1${path}/rerun`, { from_step: 'sum' });
  const rerun = `/workflows/${id}/runs/${String(run_id)}`;
  const wait = await publish(api, 'Approvals', { steps: [
    { id: 'ask', type: 'human_task', name: 'Ask Finance' }, { id: 'nap', type: 'wait', name: 'Wait a day', duration_s: 86400 }, lua('x', 'return 1') ] });
  const waiting = await start(api, wait);
  for (let i = 0; i < 6; i++) await start(api, i % 2 ? id : wait);
  const wide = info.project.name !== 'phone';
  const pages: [string, string][] = [
    ['run', path], ['loop', `${path}?step=each.12.charge`], ['timeline', `${path}?tab=timeline&items=each`], ['zoom', `${path}?tab=timeline&zoom=0.2-0.6`],
    ['compact', `${path}?tab=events&events=compact`], ['events', `${path}?tab=events&q=declined`], ['rerun', `${rerun}?step=fetch`], ['waiting', waiting], ['list', '/runs'], ['wfruns', `/workflows/${id}?tab=runs`],
  ];
  for (const scheme of wide ? (['light', 'dark'] as const) : (['light'] as const)) {
    await member.emulateMedia({ colorScheme: scheme });
    if (wide) await member.setViewportSize({ width: 1440, height: 900 });
    for (const [name, to] of pages) {
      await member.goto(to);
      await member.waitForLoadState('networkidle').catch(() => undefined);
      await member.waitForTimeout(700);
      if (name === 'list' && (await member.getByRole('checkbox', { name: /^Select run/ }).count()) > 1) {
        await member.getByRole('checkbox', { name: /^Select run/ }).first().check();
        await member.getByRole('checkbox', { name: /^Select run/ }).nth(1).check();
      }
      await member.screenshot({ path: `/tmp/shots/${wide ? scheme : 'phone'}-${name}.png` });
    }
  }
});
