import { z } from 'zod';
import { operation } from '../../operation/operation.ts';
import { ListViewsInput, ListViewsOutput, PatchViewInput, RunView, SaveViewInput, ViewRef } from './schemas.ts';
import { deleteRunView, listRunViews, patchRunView, saveRunView } from './views.ts';

const shared = { tag: 'Runs', access: 'project_viewer' } as const;

/** The operations on views of the list of runs. A view is a name for filters and columns. */
export const runViewOperations = [
  operation({
    ...shared,
    name: 'run_views_list',
    method: 'GET',
    path: '/v1/runs/views',
    status: 200,
    summary: 'List your own views of the list of runs, and those that the project shares',
    scope: 'workflow:read',
    input: ListViewsInput,
    output: ListViewsOutput,
    run: listRunViews,
  }),
  operation({
    ...shared,
    name: 'run_views_create',
    method: 'POST',
    path: '/v1/runs/views',
    status: 201,
    summary: 'Save filters and columns of the list of runs as a view',
    description:
      'A shared view needs the role project_contributor. 409 `too_many_views` from 50 views of a person in a project on.',
    scope: 'workflow:write',
    input: SaveViewInput,
    output: RunView,
    errors: [409],
    run: saveRunView,
  }),
  operation({
    ...shared,
    name: 'run_views_patch',
    method: 'PATCH',
    path: '/v1/runs/views/{view_id}',
    status: 200,
    summary: 'Rename, change or share a view, or open the list with it',
    description:
      'Anybody who sees a view may make it the own `default`. Every other change of a shared view needs the role project_contributor.',
    scope: 'workflow:write',
    input: PatchViewInput,
    output: RunView,
    run: patchRunView,
  }),
  operation({
    ...shared,
    name: 'run_views_delete',
    method: 'DELETE',
    path: '/v1/runs/views/{view_id}',
    status: 204,
    summary: 'Delete a view',
    description: 'Your own, or a shared one as a project_contributor.',
    scope: 'workflow:write',
    input: ViewRef,
    output: z.void(),
    run: deleteRunView,
  }),
] as const;
