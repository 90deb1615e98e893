import type { Locator, Page } from '@playwright/test';
import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';

type StoredNote = { id: string; text: string; position: { x: number; y: number }; color?: string; width?: number };

const graph = {
  steps: [
    { id: 'a', type: 'lua_script', script: 'return 1' },
    { id: 'b', type: 'lua_script', script: 'return 1', depends_on: ['a'] },
  ],
};
const canvasOf = (page: Page) => page.getByRole('region', { name: 'Graph of the draft' });
const nodeOf = (page: Page, id: string) => canvasOf(page).locator(`.react-flow__node[data-id="${id}"]`);
const noteOf = (page: Page, id: string) => canvasOf(page).locator(`[data-note="${id}"]`);

async function boxOf(target: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await target.boundingBox();
  if (box === null) throw new Error(`${target} is not drawn.`);
  return box;
}

async function drag(page: Page, from: { x: number; y: number }, by: { x: number; y: number }): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 8, from.y + 8, { steps: 4 });
  await page.mouse.move(from.x + by.x, from.y + by.y, { steps: 8 });
  await page.mouse.up();
}

test('a note is added, written, moved, resized and deleted with the mouse', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Notes', graph });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { notes?: StoredNote[] }).notes ?? [];
  };
  await open(member, `/workflows/${String(id)}`);
  await expect(nodeOf(member, 'a')).toBeVisible();
  await canvasOf(member).getByRole('button', { name: 'Add a note' }).click();
  const text = member.getByRole('textbox', { name: 'Text' });
  await expect(text).toBeFocused();
  await text.fill('Ask **Ada** before you change this');
  const note = noteOf(member, 'note');
  await expect(note.locator('strong')).toHaveText('Ada');
  await member.getByRole('combobox', { name: 'Color' }).click();
  await member.getByRole('option', { name: 'Blue' }).click();
  await expect.poll(stored).toMatchObject([{ id: 'note', text: 'Ask **Ada** before you change this', color: 'blue' }]);
  const [before] = await stored();
  await expectThemesAccessible(member);

  const box = await boxOf(note);
  await drag(member, { x: box.x + 40, y: box.y + box.height - 16 }, { x: 10, y: 90 });
  await expect.poll(async () => (await stored())[0]?.position).not.toEqual(before?.position);
  const corner = nodeOf(member, 'note:note').locator('.react-flow__resize-control');
  const { x, y, width, height } = await boxOf(corner);
  await drag(member, { x: x + width / 2, y: y + height / 2 }, { x: 40, y: 30 });
  await expect.poll(async () => (await stored())[0]?.width).toBeGreaterThan(before?.width ?? 0);

  await nodeOf(member, 'a').click();
  await expect(member.getByRole('textbox', { name: 'Name' })).toHaveAttribute('placeholder', 'a');
  await note.click();
  await expect(text).toHaveValue(/Ada/);
  await member.getByRole('region', { name: 'Step and JSON' }).getByRole('button', { name: 'Delete' }).click();
  await expect(note).toHaveCount(0);
  await expect.poll(stored).toEqual([]);
  await canvasOf(member).getByRole('button', { name: 'Undo' }).click();
  await expect(note).toBeVisible();
  await expect.poll(stored).toMatchObject([{ id: 'note', color: 'blue' }]);
});

test('a note is added, written, moved and deleted by keyboard', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Notes by keyboard', graph });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { notes?: StoredNote[] }).notes ?? [];
  };
  await open(member, `/workflows/${String(id)}?step=a`);
  const { keyboard } = member;
  await expect(nodeOf(member, 'a')).toHaveClass(/selected/);
  await canvasOf(member).focus();
  await expect(canvasOf(member)).toBeFocused();
  await keyboard.press('n');
  const text = member.getByRole('textbox', { name: 'Text' });
  await expect(text).toBeFocused();
  await keyboard.insertText('Runs at night');
  await expect(noteOf(member, 'note')).toHaveText('Runs at night');
  await expect.poll(stored).toMatchObject([{ text: 'Runs at night' }]);
  const [before] = await stored();

  await keyboard.press('Escape');
  await expect(nodeOf(member, 'note:note')).toBeFocused();
  await keyboard.press('Alt+ArrowDown');
  await expect
    .poll(async () => (await stored())[0]?.position)
    .toEqual({ x: before?.position.x, y: (before?.position.y ?? 0) + 16 });
  await keyboard.press('ArrowLeft');
  await expect(nodeOf(member, 'a')).toBeFocused();
  await keyboard.press('ArrowRight');
  await expect(nodeOf(member, 'note:note')).toBeFocused();
  await keyboard.press('Enter');
  await expect(text).toBeFocused();
  await keyboard.press('Escape');
  await expect(nodeOf(member, 'note:note')).toBeFocused();
  await keyboard.press('Delete');
  await expect(noteOf(member, 'note')).toHaveCount(0);
  await expect(canvasOf(member)).toBeFocused();
  await expect.poll(stored).toEqual([]);
});

test('the page of a run shows the notes of its graph', async ({ member, api }) => {
  const notes = [{ id: 'why', text: 'Ask **Ada** first', position: { x: 300, y: 0 }, color: 'blue' }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Noted', graph: { ...graph, notes } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  const started = await api.call('POST', `/v1/workflows/${String(id)}/command`, { command: 'start', params: {} });
  await open(member, `/workflows/${String(id)}/runs/${String(started.run_id)}`);
  const drawn = member.getByRole('region', { name: 'Graph of the run' });
  const note = drawn.locator('[data-note="why"]');
  await expect(note.locator('strong')).toHaveText('Ada');
  // A note is not a step: a click on it selects nothing.
  await note.click();
  await drawn.locator('[data-step="b"]').click();
  await expect(member).toHaveURL(/step=b/);
  await expectThemesAccessible(member);
});
