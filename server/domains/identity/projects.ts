import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { conflict, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Project as ProjectRow } from '../../platform/postgres/generated/client.ts';
import { isUniqueViolation } from '../../platform/postgres/prisma.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { lockTenant, lockWorkflows } from './lock-queries.ts';
import { principalCache } from './principal-cache.ts';
import {
  deleteProjectRows,
  findProject,
  hasConnections,
  hasSeveralProjects,
  hasWorkflows,
  insertProject,
  readProjects,
  renameProject,
} from './project-store.ts';
import type {
  ById,
  CreateProjectInput,
  ListProjectsInput,
  ListProjectsOutput,
  Project,
  UpdateProjectInput,
} from './schemas.ts';

type ProjectOutput = z.input<typeof Project>;

const toProject = (row: ProjectRow): ProjectOutput => ({
  id: row.id,
  name: row.name,
  created_at: isoTimestamp(row.createdAt.getTime()),
});

function nameTaken(error: unknown): never {
  if (isUniqueViolation(error)) throw conflict('project_name_taken', 'A project with this name already exists.');
  throw error;
}

/** GET /v1/projects: returns the projects on which the caller has a role (all for an administrator), newest first. */
export async function listProjects(
  { principal, services }: Context,
  input: z.output<typeof ListProjectsInput>,
): Promise<z.input<typeof ListProjectsOutput>> {
  const rows = await readProjects(services.prisma, principal.tenantId, {
    memberId: principal.role === 'tenant_admin' ? null : principal.userId,
    after: decodeCursor(TimeIdKey, input.cursor),
    take: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.id]);
  return { projects: page.rows.map(toProject), next_cursor: page.next_cursor };
}

/** POST /v1/projects. Throws AppError 409 `project_name_taken`. */
export async function createProject(
  { principal, services }: Context,
  input: z.output<typeof CreateProjectInput>,
): Promise<ProjectOutput> {
  const createdAt = new Date(services.clock.now());
  const project = { id: newId(), tenantId: principal.tenantId, name: input.name, createdAt };
  const row = await insertProject(services.prisma, project).catch(nameTaken);
  return toProject(row);
}

/** PATCH /v1/projects/{id}: renames it. Throws AppError 404, 409 `project_name_taken`. */
export async function updateProject(
  { principal, services }: Context,
  input: z.output<typeof UpdateProjectInput>,
): Promise<ProjectOutput> {
  const ref = { id: input.id, tenantId: principal.tenantId };
  const row = await renameProject(services.prisma, ref, input.name).catch(nameTaken);
  if (!row) throw notFound('Project');
  principalCache(services).clear();
  return toProject(row);
}

/**
 * DELETE /v1/projects/{id}, with its roles, tokens and invitations. Throws AppError 404; 409 `project_not_empty` while
 * it holds connections or workflows, including archived ones, whose runs stay readable; 409 `last_project`.
 */
export async function deleteProject(
  { principal, services }: Context,
  { id }: z.output<typeof ById>,
): Promise<undefined> {
  const { tenantId } = principal;
  await transact(services, async tx => {
    await lockTenant(tx, tenantId);
    const project = await findProject(tx, { tenantId, id });
    if (!project) throw notFound('Project');
    if (!(await hasSeveralProjects(tx, tenantId)))
      throw conflict('last_project', 'The last project of a workspace cannot be deleted.');
    // Locked, so that a workflow that is being created right now is either found here or refused, and never orphaned.
    await lockWorkflows(tx);
    if (await hasWorkflows(tx, { tenantId, projectId: id })) {
      throw conflict('project_not_empty', 'The project still has workflows (archived ones count).');
    }
    // Refused while connections exist: otherwise their secrets would stay in the secret store, with no row that refers
    // to them.
    if (await hasConnections(tx, { tenantId, projectId: id })) {
      throw conflict('project_not_empty', 'The project still has connections: delete or share them first.');
    }
    await deleteProjectRows(tx, { tenantId, projectId: id }, new Date(services.clock.now()));
  });
  principalCache(services).clear();
}
