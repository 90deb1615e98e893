import { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { CursorTime, decodeCursor } from '../../operation/cursor.ts';
import { Id } from '../../operation/wire.ts';
import { visibleProjects } from '../runs/access/visibility.ts';
import type { TaskKey } from './store.ts';

/** The step of a task in a cursor. In loops it is `each.3.ask`, at most four levels deep: five ids and four numbers. */
export const TaskStep = z.string().regex(/^[A-Za-z0-9_.-]{1,400}$/);
const CursorKey = z.tuple([CursorTime, Id, TaskStep]);

/**
 * Returns the position at which a page of tasks begins; null for the first page. Throws AppError 422 (a cursor of
 * another list).
 */
export function readTaskCursor(cursor: string | undefined): TaskKey | null {
  const key = decodeCursor(CursorKey, cursor);
  return key && { at: new Date(key[0]), runId: key[1], stepId: key[2] };
}

/** Returns the projects whose tasks the user can see; with `wanted`, only that project, if the user can see it. */
export async function taskProjects(ctx: Context, wanted: string | undefined): Promise<string[]> {
  const visible = await visibleProjects(ctx);
  return wanted === undefined ? visible : visible.filter(id => id === wanted);
}

/** Treats an empty filter of a form as no filter. */
export const blankAsNone = (text: string | undefined) => (text === '' ? undefined : text);
