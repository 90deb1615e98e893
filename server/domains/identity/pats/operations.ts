import { operation } from '../../../operation/operation.ts';
import { createPat } from './create.ts';
import { listPats } from './list.ts';
import { revealPat } from './reveal.ts';
import { revokePat } from './revoke.ts';
import * as schema from './schemas.ts';

export const patOperations = [
  operation({
    name: 'pats_list',
    method: 'GET',
    path: '/v1/pats',
    status: 200,
    tag: 'Personal access tokens',
    summary: 'List tokens: your own; as tenant_admin all of the project',
    access: 'project_contributor',
    scope: 'pat:manage',
    input: schema.ListPatsInput,
    output: schema.ListPatsOutput,
    mcp: { group: 'pat' },
    run: listPats,
  }),
  operation({
    name: 'pats_create',
    method: 'POST',
    path: '/v1/pats',
    status: 201,
    tag: 'Personal access tokens',
    summary: 'Create a token; its plaintext is shown once',
    description: `A token cannot create one with a scope that it lacks itself, nor one that expires later than itself or never, where it
expires (403).`,
    access: 'project_contributor',
    scope: 'pat:manage',
    input: schema.CreatePatInput,
    output: schema.CreatePatOutput,
    errors: [503],
    mcp: { group: 'pat', risk: true },
    run: createPat,
  }),
  operation({
    name: 'pats_reveal',
    method: 'GET',
    path: '/v1/pats/{id}/reveal',
    status: 200,
    tag: 'Personal access tokens',
    summary: 'Reveal a token of your own, once; the second call is 404',
    description: 'A token cannot reveal one with a scope that it lacks itself, nor one that outlives it (403).',
    access: 'project_viewer',
    scope: 'pat:manage',
    input: schema.ById,
    output: schema.RevealPatOutput,
    errors: [503],
    mcp: { group: 'pat', risk: true, hints: { readOnly: false, destructive: true, idempotent: false } },
    run: revealPat,
  }),
  operation({
    name: 'pats_revoke',
    method: 'DELETE',
    path: '/v1/pats/{id}',
    status: 200,
    tag: 'Personal access tokens',
    summary: 'Revoke a token and those that it created: your own; as tenant_admin any of the project',
    access: 'project_contributor',
    scope: 'pat:manage',
    input: schema.ById,
    output: schema.RevokePatOutput,
    mcp: { group: 'pat' },
    run: revokePat,
  }),
] as const;
