import type { Pool } from 'pg';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import type { AgentGrant } from '../../orchestrator/steps/agent/grants.ts';
import type { ProjectScope } from '../workflows/store.ts';

/** The subject of a grant: an agent, or a conversation. */
export type GrantSubject = { agentId: string } | { threadId: string };

export type NewGrant = Omit<AgentGrant, 'id'> & {
  id: string;
  grantedBy: string;
  at: Date;
  expiresAt: Date | null;
};

export type GrantRow = {
  id: string;
  agent_id: string | null;
  thread_id: string | null;
  instance_id: string;
  /** The name of the instance. Null: the instance was deleted. */
  instance: string | null;
  tool: string;
  arguments: JsonMap | null;
  granted_by: string;
  in_force: boolean;
  created_at: Date;
  expires_at: Date | null;
};

const columnsOf = (subject: GrantSubject): [agentId: string | null, threadId: string | null] =>
  'agentId' in subject ? [subject.agentId, null] : [null, subject.threadId];

/** Returns the SQL condition of a grant in force: it has not expired, and its grantor may still write in the project. `at`: the parameter with the time. */
const inForce = (at: string) => `((m.tenant_admin OR pm.role = 'project_contributor') IS TRUE
  AND (g.expires_at IS NULL OR g.expires_at > ${at}::timestamptz))`;
const GRANTER = `LEFT JOIN memberships m ON m.user_id = g.granted_by AND m.tenant_id = $1
  LEFT JOIN project_members pm ON pm.user_id = g.granted_by AND pm.project_id = $2`;

/** Inserts a grant and returns its id. Returns the id of the existing grant if the same person has already given an equal one. */
export async function insertGrant(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  subject: GrantSubject,
  grant: NewGrant,
): Promise<string> {
  const [agentId, threadId] = columnsOf(subject);
  const { rows } = await pool.query<{ id: string }>(
    `WITH same AS (
       SELECT g.id FROM agent_grants g
        WHERE g.tenant_id = $1 AND g.project_id = $2 AND (g.agent_id = $4 OR g.thread_id = $5) AND g.instance_id = $6
          AND g.tool = $7 AND g.tool_digest = $8 AND g.arguments::jsonb IS NOT DISTINCT FROM $9::jsonb AND g.granted_by = $10
          AND g.expires_at IS NOT DISTINCT FROM $12::timestamptz
        LIMIT 1),
     made AS (
       INSERT INTO agent_grants (id, tenant_id, project_id, agent_id, thread_id, instance_id, tool, tool_digest, arguments,
         granted_by, created_at, expires_at)
       SELECT $3, $1, $2, $4, $5, $6, $7, $8, $9::json, $10, $11, $12::timestamptz WHERE NOT EXISTS (SELECT FROM same)
       RETURNING id)
     SELECT id FROM same UNION ALL SELECT id FROM made`,
    [
      tenantId,
      projectId,
      grant.id,
      agentId,
      threadId,
      grant.instanceId,
      grant.tool,
      grant.toolDigest,
      grant.arguments === null ? null : JSON.stringify(grant.arguments),
      grant.grantedBy,
      grant.at,
      grant.expiresAt,
    ],
  );
  return rows[0]?.id ?? grant.id;
}

/**
 * Returns the grants in force in a run at a given time: those for the agent, and those for the conversation in which the
 * run answers.
 */
export async function grantsInForce(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  { agentId, runId, at }: { agentId: string; runId: string; at: Date },
): Promise<AgentGrant[]> {
  const { rows } = await pool.query<AgentGrant>({
    name: 'agent_grants_in_force',
    text: `SELECT g.id, g.instance_id AS "instanceId", g.tool, g.tool_digest AS "toolDigest", g.arguments
             FROM agent_grants g ${GRANTER}
            WHERE g.tenant_id = $1 AND g.project_id = $2 AND ${inForce('$5')}
              AND (g.agent_id = $3
                   OR g.thread_id = (SELECT c.thread_id FROM chat_messages c WHERE c.run_id = $4 AND c.tenant_id = $1))
            ORDER BY g.created_at, g.id`,
    values: [tenantId, projectId, agentId, runId, at],
  });
  return rows;
}

/** Returns the grants of an agent or of a conversation, newest first, including those that are no longer in force. */
export async function listGrantRows(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  subject: GrantSubject,
  { after, limit, at }: { after: { at: Date; id: string } | null; limit: number; at: Date },
): Promise<GrantRow[]> {
  const { rows } = await pool.query<GrantRow>(
    `SELECT g.id, g.agent_id, g.thread_id, g.instance_id, i.name AS instance, g.tool, g.arguments,
            coalesce(u.email, '') AS granted_by, ${inForce('$5')} AS in_force, g.created_at, g.expires_at
       FROM agent_grants g ${GRANTER}
       LEFT JOIN users u ON u.id = g.granted_by
       LEFT JOIN mcp_instances i ON i.id = g.instance_id AND i.tenant_id = $1
      WHERE g.tenant_id = $1 AND g.project_id = $2 AND (g.agent_id = $3 OR g.thread_id = $4)
        AND ($6::timestamptz IS NULL OR (g.created_at, g.id) < ($6, $7::uuid))
      ORDER BY g.created_at DESC, g.id DESC LIMIT $8`,
    [tenantId, projectId, ...columnsOf(subject), at, after?.at ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** Deletes a grant of an agent or of a conversation. Returns false if no grant has this id. */
export async function deleteGrant(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  subject: GrantSubject,
  { id }: { id: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `DELETE FROM agent_grants g
      WHERE g.tenant_id = $1 AND g.project_id = $2 AND (g.agent_id = $3 OR g.thread_id = $4) AND g.id = $5`,
    [tenantId, projectId, ...columnsOf(subject), id],
  );
  return rowCount === 1;
}

/** A call that waits for an approval, as the log records it, with the agent and the conversation of its run. */
export type AskedCallRow = {
  /** The `AgentWork` of the agent, as `step_expanded` records it. */
  work: JsonMap | null;
  /** The name of the tool that the model sees. */
  tool: string | null;
  /** The agent of the run. Null: the run is of a workflow with an agent step. */
  own_agent_id: string | null;
  /** The conversation in which the run answers. Null: there is none, or the person may not see it. */
  thread_id: string | null;
  /** The source of the outside text that makes the agent ask. */
  outside: string | null;
  /** The source of the private data that the call could send out. */
  private: string | null;
};

/** Returns the call with this number in `turn`; null if the project has no run with this id. `agent`: the step of the agent. `approval`: the step of the task. */
export async function findAskedCallRow(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  {
    runId,
    agent,
    approval,
    userId,
    turn,
    number,
  }: { runId: string; agent: string; approval: string; userId: string; turn: string; number: number },
): Promise<AskedCallRow | null> {
  const { rows } = await pool.query<AskedCallRow>(
    `SELECT (SELECT coalesce(e.data->'agent', p.body) FROM run_events e
               LEFT JOIN run_payloads p ON p.run_id = e.run_id AND p.id = (e.data->'agent_ref'->>'payload_id')::uuid
              WHERE e.run_id = r.id AND e.event_type = 'step_expanded' AND e.step_id = $4 LIMIT 1) AS work,
            (SELECT added->'fields'->>'tool' FROM run_events e, json_array_elements(e.data->'steps') added
              WHERE e.run_id = r.id AND e.event_type = 'steps_added' AND e.step_id = $4 AND added->>'id' = $5 LIMIT 1) AS tool,
            CASE WHEN w.kind = 'agent' THEN w.id END AS own_agent_id,
            (SELECT t.id FROM chat_messages c JOIN chat_threads t ON t.id = c.thread_id
              WHERE c.run_id = r.id AND c.tenant_id = $1 AND (t.owner_id = $6 OR t.visibility = 'project')
                AND t.deleted_at IS NULL) AS thread_id,
            (SELECT e.data->'turn'->'calls'->($8::int - 1)->>'outside' FROM run_events e
              WHERE e.run_id = r.id AND e.event_type = 'step_completed' AND e.step_id = $7 LIMIT 1) AS outside,
            (SELECT e.data->'turn'->'calls'->($8::int - 1)->>'private' FROM run_events e
              WHERE e.run_id = r.id AND e.event_type = 'step_completed' AND e.step_id = $7 LIMIT 1) AS private
       FROM runs r JOIN workflows w ON w.id = r.workflow_id
      WHERE r.id = $3 AND r.tenant_id = $1 AND r.project_id = $2`,
    [tenantId, projectId, runId, agent, approval, userId, turn, number],
  );
  return rows[0] ?? null;
}
