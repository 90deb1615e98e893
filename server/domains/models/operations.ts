import { operation } from '../../operation/operation.ts';
import { NoContent } from '../identity/schemas.ts';
import { listCatalog } from './catalog.ts';
import { createModelKey, deleteModelKey, listModelKeys, patchModelKey } from './keys.ts';
import { resolveModel } from './resolve.ts';
import * as schema from './schemas.ts';
import { testModelKey } from './test-key.ts';

const common = { tag: 'Models', mcp: { group: 'llm_keys' } } as const;
/** A key is a credential, so it requires the same rights as a connection. */
const managing = { ...common, access: 'project_contributor', scope: 'connection:manage' } as const;

export const modelOperations = [
  operation({
    ...common,
    name: 'llm_catalog_list',
    method: 'GET',
    path: '/v1/llm-provider-keys/catalog',
    status: 200,
    summary: 'List models, and which providers have a key here',
    description: 'A short list: any other model of a provider can be named as well.',
    access: 'project_viewer',
    scope: 'ai:use',
    input: schema.CatalogInput,
    output: schema.CatalogOutput,
    run: listCatalog,
  }),
  operation({
    ...common,
    name: 'llm_resolve',
    mcp: { ...common.mcp, hints: { readOnly: true } },
    method: 'POST',
    path: '/v1/llm/resolve',
    status: 200,
    summary: 'Resolve a model reference: which key and server a step with it would use',
    access: 'project_contributor',
    scope: 'ai:use',
    input: schema.ResolveInput,
    output: schema.ResolveOutput,
    run: resolveModel,
  }),
  operation({
    ...managing,
    name: 'llm_provider_keys_list',
    method: 'GET',
    path: '/v1/llm-provider-keys',
    status: 200,
    summary: "List the project's model keys and those shared with the workspace, newest first, without the keys",
    description:
      'A model key is a connection with service `llm`. Of several keys of a provider the newest of the project is used, else the newest that is shared.',
    input: schema.ListKeysInput,
    output: schema.ListKeysOutput,
    run: listModelKeys,
  }),
  operation({
    ...managing,
    name: 'llm_provider_keys_create',
    method: 'POST',
    path: '/v1/llm-provider-keys',
    status: 201,
    summary: 'Add a model key',
    description:
      'The key goes to the secret store and is never returned. It is sent to the origin of `base_url`, or of the provider, only. `shared` needs a `tenant_admin`.',
    input: schema.CreateKeyInput,
    output: schema.ModelKey,
    errors: [503],
    run: createModelKey,
  }),
  operation({
    ...managing,
    name: 'llm_provider_keys_patch',
    method: 'PATCH',
    path: '/v1/llm-provider-keys/{id}',
    status: 200,
    summary: 'Rename a model key, or replace key, base URL or models',
    description: 'A `base_url` of another origin needs `api_key` as well: 422 `secret_required`.',
    input: schema.PatchKeyInput,
    output: schema.ModelKey,
    errors: [409, 503],
    run: patchModelKey,
  }),
  operation({
    ...managing,
    name: 'llm_provider_keys_delete',
    method: 'DELETE',
    path: '/v1/llm-provider-keys/{id}',
    status: 204,
    summary: 'Delete a model key',
    description: 'While workflows name models of its provider it is 409 `connection_in_use`, unless `force` is true.',
    input: schema.DeleteKeyInput,
    output: NoContent,
    errors: [409, 503],
    run: deleteModelKey,
  }),
  operation({
    ...managing,
    name: 'llm_provider_keys_test',
    mcp: { ...common.mcp, hints: { readOnly: true, openWorld: true } },
    method: 'POST',
    path: '/v1/llm-provider-keys/{id}/test',
    status: 200,
    summary: 'Test a model key: asks its provider which models it may use',
    input: schema.TestKeyInput,
    output: schema.TestKeyOutput,
    errors: [409, 503],
    run: testModelKey,
  }),
] as const;
