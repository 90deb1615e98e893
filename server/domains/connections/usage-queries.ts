import type { Pool } from 'pg';
import { withInnerSteps } from '../../orchestrator/steps/graph-queries.ts';
import { fieldsNaming } from '../../orchestrator/steps/references.ts';
import type { ConnectionKey } from './store.ts';

export type ConnectionUser = { id: string; name: string; project_id: string } & (
  | { kind: 'instance' | 'workflow' }
  | { kind: 'profile'; instance_id: string; instance_name: string }
);

const named = (['connection', 'model'] as const).flatMap(kind => fieldsNaming(kind).map(each => ({ ...each, kind })));

/**
 * Returns all users of a connection, in every project of the tenant, sorted by name. Workflows that are not archived
 * are users if a step, also in a loop, names the connection, in the draft or in the version that starts; with
 * `modelsOf` also if a step names a model of this provider. If the connection belongs to a project (`owner`), only that
 * project is searched.
 */
export async function findUsers(
  pool: Pool,
  ref: ConnectionKey,
  { modelsOf, owner }: { modelsOf: string | null; owner: string | null },
): Promise<ConnectionUser[]> {
  const { rows } = await pool.query<ConnectionUser>(
    `SELECT 'instance' AS kind, i.id, i.name, i.project_id, NULL::uuid AS instance_id, NULL AS instance_name
       FROM mcp_instances i WHERE i.tenant_id = $1 AND i.connection_id = $2
     UNION ALL
     SELECT 'profile', p.id, p.name, i.project_id, i.id, i.name
       FROM mcp_config_profiles p JOIN mcp_instances i ON i.id = p.instance_id
      WHERE p.tenant_id = $1 AND i.tenant_id = $1 AND p.connection_id = $2
     UNION ALL
     SELECT 'workflow', w.id, w.name, w.project_id, NULL, NULL
       FROM workflows w
       LEFT JOIN workflow_versions v ON v.workflow_id = w.id AND v.tenant_id = w.tenant_id AND v.version = w.latest_version
      WHERE w.tenant_id = $1 AND ($4::uuid IS NULL OR w.project_id = $4) AND w.status <> 'archived'
        AND ($3::text IS NOT NULL OR strpos(w.graph::text, $2::uuid::text) > 0
             OR strpos(v.graph_snapshot::text, $2::uuid::text) > 0)
        AND EXISTS (
        ${withInnerSteps(
          `SELECT json_array_elements(graph -> 'steps') FROM (VALUES (w.graph), (v.graph_snapshot)) graphs(graph)
            WHERE json_typeof(graph -> 'steps') = 'array'`,
        )}
        SELECT 1 FROM steps
          JOIN json_to_recordset($5) named(type text, field text, kind text) ON step ->> 'type' = named.type
         WHERE CASE named.kind WHEN 'connection' THEN step ->> named.field = $2::uuid::text
                               ELSE starts_with(step ->> named.field, $3 || '/') END)
     ORDER BY name, id`,
    [ref.tenantId, ref.connectionId, modelsOf, owner, JSON.stringify(named)],
  );
  return rows;
}
