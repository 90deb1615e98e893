import type { Pool } from 'pg';
import type { z } from 'zod';
import { placesNaming } from '../../orchestrator/steps/references.ts';
import { containsPattern } from '../../platform/postgres/prisma.ts';
import { RECENT_RUN, stepsNaming } from '../workflows/queries.ts';
import type { ProjectScope, WorkflowRow } from '../workflows/store.ts';
import type { AgentStatus, ListAgentsOutput } from './schemas.ts';
import type { AgentSettings } from './settings.ts';
import type { AgentExtras } from './store.ts';

type Run = z.output<typeof ListAgentsOutput>['agents'][number]['recent_runs'][number];
export type AgentListRow = Omit<WorkflowRow, 'graph' | 'runSetup' | 'status'> & {
  archived: boolean;
  extras: AgentExtras;
  /** The settings without the fields that may be large. */
  settings: Omit<AgentSettings, 'instructions' | 'response_schema'>;
  recentRuns: Run[];
};

export type AgentFilter = {
  status: z.output<typeof AgentStatus> | undefined;
  q: string | undefined;
  after: { at: Date; id: string } | null;
  limit: number;
};

/** Returns the agents, newest first, each with its last 20 runs. */
export async function listAgentRows(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  filter: AgentFilter,
): Promise<AgentListRow[]> {
  const { rows } = await pool.query<AgentListRow>(
    `WITH page AS (
       SELECT w.id, w.tenant_id AS "tenantId", w.project_id AS "projectId", w.name, w.description, w.kind, w.revision,
              w.latest_version AS "latestVersion", w.graph_checksum AS "graphChecksum", w.created_by AS "createdBy",
              w.created_at AS "createdAt", w.updated_at AS "updatedAt", w.status = 'archived' AS archived,
              json_build_object('status', a.status, 'starters', a.starters) AS extras,
              (w.graph->'steps'->0)::jsonb - '{id,type,prompt,instructions,response_schema,memory}'::text[] AS settings
         FROM workflows w JOIN agents a ON a.id = w.id AND a.tenant_id = w.tenant_id
        WHERE w.tenant_id = $1 AND w.project_id = $2 AND w.kind = 'agent'
          AND (CASE WHEN $3::text IS NULL THEN w.status <> 'archived' WHEN $3 = 'archived' THEN w.status = 'archived'
                    ELSE w.status <> 'archived' AND a.status = $3 END)
          AND ($4::text IS NULL OR w.name ILIKE $4 OR w.description ILIKE $4 OR w.id::text = lower($5))
          AND ($6::timestamptz IS NULL OR (w.created_at, w.id) < ($6, $7::uuid))
        ORDER BY w.created_at DESC, w.id DESC LIMIT $8)
     SELECT page.*, coalesce(recent.runs, '[]'::json) AS "recentRuns"
       FROM page LEFT JOIN LATERAL (
         SELECT json_agg(json_build_object(${RECENT_RUN}, 'credits_microcredits', credits_microcredits)
                  ORDER BY started_at DESC, id DESC) AS runs
           FROM (SELECT * FROM runs
                  WHERE workflow_id = page.id AND tenant_id = $1 AND version > 0
                  ORDER BY started_at DESC, id DESC LIMIT 20) last_runs) recent ON true
      ORDER BY page."createdAt" DESC, page.id DESC`,
    [
      tenantId,
      projectId,
      filter.status ?? null,
      containsPattern(filter.q),
      filter.q ?? null,
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
    ],
  );
  return rows;
}

export type AgentUse = { workflow_id: string; name: string; published: boolean };

/** Returns at most `limit` workflows of the project in which a step of the draft or of the latest version names the agent. */
export async function listUsesOfAgent(
  pool: Pool,
  { tenantId, projectId, id }: ProjectScope & { id: string },
  limit: number,
): Promise<AgentUse[]> {
  const { rows } = await pool.query<AgentUse>(
    `${stepsNaming({ tenantId: '$1', projectId: '$2', id: '$3::uuid::text' })}
     SELECT c.id AS workflow_id, c.name, bool_or(f.published) AS published
       FROM candidate c JOIN found f ON f.id = c.id
       JOIN json_to_recordset($5) place(type text, field text, list text, "entryType" text) ON f.step->>'type' = place.type
      WHERE CASE WHEN place.list IS NULL THEN lower(f.step->>place.field) = $3::uuid::text
                 ELSE EXISTS (
              SELECT FROM json_array_elements(
                CASE WHEN json_typeof(f.step->place.list) = 'array' THEN f.step->place.list ELSE '[]' END) entry
               WHERE (place."entryType" IS NULL OR entry->>'type' = place."entryType")
                 AND lower(entry->>place.field) = $3::uuid::text) END
      GROUP BY c.id, c.name ORDER BY c.name, c.id LIMIT $4`,
    [tenantId, projectId, id, limit, JSON.stringify(placesNaming('agents'))],
  );
  return rows;
}
