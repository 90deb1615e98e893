import { z } from 'zod';
import { operation } from '../../operation/operation.ts';
import { archive } from './archive.ts';
import { createWorkflow } from './create.ts';
import { editWorkflow } from './edit.ts';
import { DiffVersionsInput, DiffVersionsOutput, EditWorkflowInput, EditWorkflowOutput } from './edit-schemas.ts';
import { announceEditor } from './editors/announce.ts';
import { listEditors } from './editors/list.ts';
import { AnnounceEditorInput, EditorsOutput, ListEditorsInput } from './editors/schemas.ts';
import { listFolders } from './folders/list.ts';
import { organizeWorkflows, renameFolder } from './folders/organize.ts';
import {
  ListFoldersInput,
  ListFoldersOutput,
  OrganizeInput,
  OrganizeOutput,
  RenameFolderInput,
  RenameFolderOutput,
} from './folders/schemas.ts';
import { getWorkflow } from './get.ts';
import { listWorkflows } from './list.ts';
import { patchWorkflow } from './patch.ts';
import { publish } from './publish.ts';
import {
  ArchiveWorkflowInput,
  CreateWorkflowInput,
  ExportInput,
  ExportOutput,
  ImportInput,
  ListVersionsInput,
  ListVersionsOutput,
  ListWorkflowsInput,
  ListWorkflowsOutput,
  PatchWorkflowInput,
  PublishInput,
  ReadVersionInput,
  ValidateInput,
  ValidationReport,
  VersionRef,
  VersionSchema,
  WorkflowRef,
  WorkflowSchema,
} from './schemas.ts';
import { exportWorkflow } from './transfer/export.ts';
import { importWorkflow } from './transfer/import.ts';
import { validate } from './validate.ts';
import { diffVersions } from './versions/diff.ts';
import { getVersion } from './versions/get.ts';
import { listVersions } from './versions/list.ts';
import { restoreVersion } from './versions/restore.ts';

const tag = 'Workflows';
/**
 * Returns the revision of the draft that a save produced. The audit log joins the saves of an editing session, and
 * shows its first and last revision.
 */
const revisionOf = (saved: { etag: string } | undefined): Record<string, string> =>
  saved === undefined ? {} : { revision: saved.etag.replaceAll('"', '') };
const read = { tag, access: 'project_viewer', scope: 'workflow:read' } as const;
const write = { tag, access: 'project_contributor', scope: 'workflow:write' } as const;
const core = { group: 'core' } as const;

const drafts = [
  operation({
    ...read,
    name: 'workflows_list',
    method: 'GET',
    path: '/v1/workflows',
    status: 200,
    summary: "List the project's workflows, newest first, each with its last runs",
    input: ListWorkflowsInput,
    output: ListWorkflowsOutput,
    mcp: core,
    run: listWorkflows,
  }),
  operation({
    ...write,
    name: 'workflows_create',
    method: 'POST',
    path: '/v1/workflows',
    status: 201,
    summary: 'Create a workflow as a draft',
    description: 'The graph may be incomplete or left out; it is validated when it is published.',
    input: CreateWorkflowInput,
    output: WorkflowSchema,
    mcp: core,
    run: createWorkflow,
  }),
  operation({
    ...read,
    name: 'workflows_get',
    method: 'GET',
    path: '/v1/workflows/{id}',
    status: 200,
    summary: 'Read a workflow with its draft graph',
    description: 'The `ETag` header (also the field `etag`) names the state of the draft, for `If-Match`.',
    input: WorkflowRef,
    output: WorkflowSchema,
    mcp: core,
    run: getWorkflow,
  }),
  operation({
    ...write,
    name: 'workflows_patch',
    method: 'PATCH',
    path: '/v1/workflows/{id}',
    status: 200,
    summary: 'Change name, description, draft graph or run setup',
    description: 'Versions that were published, and their runs, do not change.',
    input: PatchWorkflowInput,
    output: WorkflowSchema,
    errors: [409, 412],
    headers: ['If-Match'],
    mcp: core,
    audited: (_, saved) => revisionOf(saved),
    run: patchWorkflow,
  }),
  operation({
    ...write,
    name: 'workflows_archive',
    method: 'DELETE',
    path: '/v1/workflows/{id}',
    status: 204,
    summary: 'Archive a workflow',
    description:
      'It can no longer be changed, published or started; its versions and runs stay readable. Active runs continue, unless `runs` is `stop`.',
    scopesWhere: [{ scope: 'workflow:run', when: '`runs` is `stop`' }],
    input: ArchiveWorkflowInput,
    output: z.void(),
    errors: [409],
    run: archive,
  }),
  operation({
    ...write,
    name: 'workflows_validate',
    method: 'POST',
    path: '/v1/workflows/{id}/validate',
    status: 200,
    summary: 'Check a graph as publishing would, without saving anything',
    input: ValidateInput,
    output: ValidationReport,
    mcp: { ...core, hints: { readOnly: true } },
    run: validate,
  }),
] as const;

const versions = [
  operation({
    ...write,
    name: 'workflows_publish_version',
    method: 'POST',
    path: '/v1/workflows/{id}/versions',
    status: 201,
    summary: 'Publish the draft as the next version',
    description: 'Graph and run setup are copied. An invalid graph is 422 with every problem in `details`.',
    input: PublishInput,
    output: VersionSchema,
    errors: [409],
    mcp: core,
    run: publish,
  }),
  operation({
    ...read,
    name: 'workflows_list_versions',
    method: 'GET',
    path: '/v1/workflows/{id}/versions',
    status: 200,
    summary: 'List the versions of a workflow, newest first',
    input: ListVersionsInput,
    output: ListVersionsOutput,
    run: listVersions,
  }),
  operation({
    ...read,
    name: 'workflows_get_version',
    method: 'GET',
    path: '/v1/workflows/{id}/versions/{version}',
    status: 200,
    summary: 'Read one version',
    input: ReadVersionInput,
    output: VersionSchema,
    run: getVersion,
  }),
  operation({
    ...write,
    name: 'workflows_restore_version',
    method: 'POST',
    path: '/v1/workflows/{id}/versions/{version}/restore',
    status: 200,
    summary: "Copy a version's graph back into the draft",
    description: 'Name, description and run setup of the draft stay as they are.',
    input: VersionRef,
    output: WorkflowSchema,
    errors: [409, 412],
    headers: ['If-Match'],
    run: restoreVersion,
  }),
] as const;

const transfer = [
  operation({
    ...read,
    name: 'workflows_export',
    method: 'GET',
    path: '/v1/workflows/{id}/export',
    status: 200,
    summary: 'Export the draft as one self-contained document, without ids and secrets',
    description: '`format=json` (default) answers the document itself, `format=yaml` its text in `document`.',
    input: ExportInput,
    output: ExportOutput,
    run: exportWorkflow,
  }),
  operation({
    ...write,
    name: 'workflows_import',
    method: 'POST',
    path: '/v1/workflows/import',
    status: 201,
    summary: 'Create a workflow from an exported document',
    description:
      'Takes the document itself, or `{"document": "<JSON or YAML text>"}`. YAML aliases and tags are not accepted.',
    input: ImportInput,
    output: WorkflowSchema,
    run: importWorkflow,
  }),
] as const;

const edits = [
  operation({
    ...write,
    name: 'workflows_edit',
    method: 'POST',
    path: '/v1/workflows/{id}/edits',
    status: 200,
    summary: 'Apply edits to the draft: all of them, or none',
    description:
      'Adds, changes, renames, removes, connects and moves steps. The answer holds the edits that undo it. Without `If-Match` the edits apply to the draft as it is by then.',
    input: EditWorkflowInput,
    output: EditWorkflowOutput,
    errors: [409, 412],
    headers: ['If-Match'],
    mcp: { ...core, hints: { destructive: true } },
    audited: (_, saved) => revisionOf(saved?.workflow),
    run: editWorkflow,
  }),
  operation({
    ...read,
    name: 'workflows_diff_versions',
    method: 'GET',
    path: '/v1/workflows/{id}/versions/{a}/diff/{b}',
    status: 200,
    summary: 'Compare two versions, or a version and the draft, by step and field',
    description: 'Each of `a` and `b` is the number of a version, or `draft`.',
    input: DiffVersionsInput,
    output: DiffVersionsOutput,
    mcp: core,
    run: diffVersions,
  }),
] as const;

const editors = [
  operation({
    ...read,
    name: 'workflows_list_editors',
    method: 'GET',
    path: '/v1/workflows/{id}/editors',
    status: 200,
    summary: 'List who edits the draft now, and who has saved it since',
    input: ListEditorsInput,
    output: EditorsOutput,
    run: listEditors,
  }),
  operation({
    ...write,
    name: 'workflows_announce_editor',
    method: 'POST',
    path: '/v1/workflows/{id}/editors',
    status: 200,
    summary: 'Announce that you have the draft open in an editor, or have left it',
    description: 'Repeat it every 15 seconds: 40 seconds after the last time the editor no longer counts as open.',
    input: AnnounceEditorInput,
    output: EditorsOutput,
    unaudited: true,
    run: announceEditor,
  }),
] as const;

const folders = [
  operation({
    ...read,
    name: 'workflows_list_folders',
    method: 'GET',
    path: '/v1/workflows/folders',
    status: 200,
    summary: "List the folders and tags of the project's workflows, with counts",
    input: ListFoldersInput,
    output: ListFoldersOutput,
    mcp: { ...core, tool: false },
    run: listFolders,
  }),
  operation({
    ...write,
    name: 'workflows_organize',
    method: 'POST',
    path: '/v1/workflows/organize',
    status: 200,
    summary: 'Move workflows into a folder, or change their tags',
    description:
      'Folders and tags give nobody a right, and the drafts with their ETags stay as they are. The change is made for all of them, or for none.',
    input: OrganizeInput,
    output: OrganizeOutput,
    errors: [404, 409],
    mcp: { ...core, hints: { destructive: true, idempotent: true } },
    audited: ({ workflow_ids: [id = '', ...others], folder }) => ({
      ...(others.length === 0 ? { id } : { workflows: String(others.length + 1) }),
      ...(folder === undefined ? {} : { folder }),
    }),
    run: organizeWorkflows,
  }),
  operation({
    ...write,
    name: 'workflows_rename_folder',
    method: 'POST',
    path: '/v1/workflows/folders/rename',
    status: 200,
    summary: 'Rename or move a folder, with everything inside it',
    input: RenameFolderInput,
    output: RenameFolderOutput,
    errors: [404],
    mcp: { ...core, tool: false, hints: { destructive: true } },
    audited: ({ from, to }) => ({ from, to }),
    run: renameFolder,
  }),
] as const;

/** The operations on workflows and their versions. */
export const workflowOperations = [...drafts, ...folders, ...versions, ...transfer, ...edits, ...editors] as const;
